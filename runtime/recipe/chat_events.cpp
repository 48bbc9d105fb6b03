#include "runtime/recipe/chat_events.hpp"

#include <algorithm>

#include "runtime/recipe/text/json_writer.hpp"

namespace troupe {
namespace {

/// JSON has no infinity; this is what vendors send for a token that cannot come.
constexpr double kLogprobMin = -9999.0;

std::string event(JsonWriter& json) {
  return "data: " + json.take() + "\n\n";
}

void write_token(JsonWriter& json, std::string_view bytes, double logprob) {
  json.key("token").text(bytes);
  json.key("logprob").real(std::max(logprob, kLogprobMin));
  json.key("bytes").open_array();
  for (const char c : bytes) json.number(std::uint64_t{static_cast<unsigned char>(c)});
  json.close_array();
}

void write_logprobs(JsonWriter& json, std::span<const TokenLogprob> logprobs) {
  if (logprobs.empty()) return;
  json.key("logprobs").open_object();
  json.key("content").open_array();
  for (const TokenLogprob& token : logprobs) {
    json.open_object();
    write_token(json, token.bytes, token.logprob);
    json.key("top_logprobs").open_array();
    for (const auto& candidate : token.top) {
      json.open_object();
      write_token(json, candidate.bytes, candidate.logprob);
      json.close_object();
    }
    json.close_array();
    json.close_object();
  }
  json.close_array();
  json.key("refusal").null();
  json.close_object();
}

void write_usage(JsonWriter& json, const Usage& usage) {
  json.key("usage").open_object();
  json.key("prompt_tokens").number(usage.prompt_tokens);
  json.key("completion_tokens").number(usage.completion_tokens);
  json.key("total_tokens").number(usage.prompt_tokens + usage.completion_tokens);
  json.key("prompt_tokens_details").open_object();
  json.key("cached_tokens").number(usage.cached_tokens);
  json.close_object();
  json.close_object();
}

void write_model(JsonWriter& json, const ModelEntry& model) {
  json.open_object();
  json.key("id").text(model.id);
  json.key("object").text("model");
  json.key("created").number(model.created);
  json.key("owned_by").text("troupe");
  json.key("max_model_len").number(model.context_tokens);
  json.close_object();
}

constexpr std::string_view kChunk = "chat.completion.chunk";

}  // namespace

std::string_view to_string(FinishReason reason) {
  return reason == FinishReason::kStop ? "stop" : "length";
}

void ChatEvents::open(JsonWriter& json, std::string_view object) const {
  json.open_object();
  json.key("id").text(identity_.id);
  json.key("object").text(object);
  json.key("created").number(identity_.created);
  json.key("model").text(identity_.model);
  if (!identity_.fingerprint.empty()) json.key("system_fingerprint").text(identity_.fingerprint);
  json.key("choices").open_array();
}

std::string ChatEvents::role_chunk() const {
  JsonWriter json;
  open(json, kChunk);
  json.open_object().key("index").number(std::int64_t{0});
  json.key("delta").open_object();
  json.key("role").text("assistant").key("content").text("");
  json.close_object().key("finish_reason").null();
  json.close_object().close_array().close_object();
  return event(json);
}

std::string ChatEvents::content_chunk(std::string_view text,
                                      std::span<const TokenLogprob> logprobs) const {
  JsonWriter json;
  open(json, kChunk);
  json.open_object().key("index").number(std::int64_t{0});
  json.key("delta").open_object().key("content").text(text).close_object();
  write_logprobs(json, logprobs);
  json.key("finish_reason").null();
  json.close_object().close_array().close_object();
  return event(json);
}

std::string ChatEvents::finish_chunk(FinishReason reason) const {
  JsonWriter json;
  open(json, kChunk);
  json.open_object().key("index").number(std::int64_t{0});
  json.key("delta").open_object().close_object();
  json.key("finish_reason").text(to_string(reason));
  json.close_object().close_array().close_object();
  return event(json);
}

std::string ChatEvents::usage_chunk(const Usage& usage) const {
  JsonWriter json;
  open(json, kChunk);
  json.close_array();
  write_usage(json, usage);
  json.close_object();
  return event(json);
}

std::string ChatEvents::error_event(const ApiError& error) {
  return "data: " + error_body(error) + "\n\n";
}

std::string ChatEvents::completion_body(std::string_view text, FinishReason reason,
                                        const Usage& usage,
                                        std::span<const TokenLogprob> logprobs) const {
  JsonWriter json;
  open(json, "chat.completion");
  json.open_object().key("index").number(std::int64_t{0});
  json.key("message").open_object();
  json.key("role").text("assistant").key("content").text(text);
  json.close_object();
  write_logprobs(json, logprobs);
  json.key("finish_reason").text(to_string(reason));
  json.close_object().close_array();
  write_usage(json, usage);
  json.close_object();
  return json.take();
}

std::string models_body(std::span<const ModelEntry> models) {
  JsonWriter json;
  json.open_object().key("object").text("list").key("data").open_array();
  for (const ModelEntry& model : models) write_model(json, model);
  json.close_array().close_object();
  return json.take();
}

}  // namespace troupe
