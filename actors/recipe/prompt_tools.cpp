#include "actors/recipe/prompt_tools.hpp"

#include "runtime/base/assert.hpp"
#include "runtime/recipe/request/error_body.hpp"
#include "runtime/recipe/request/token_requests.hpp"
#include "runtime/recipe/text/json_writer.hpp"

namespace troupe {

namespace {

using recipe::RequestError;

/// An answer may be many times its question: a token of a byte is spelled with six, and an id of
/// two bytes may stand for a word of a hundred. 64 MiB is twice what a body may be.
constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20;

Prepared too_long(recipe::Compat compat) {
  RequestError error =
      error_about("", "the answer would be over " + std::to_string(kAnswerBytesMax >> 20) +
                          " MiB: send the text or the tokens in parts");
  error.status = 413;
  error.code = "answer_too_large";
  return refusal_of(recipe::Protocol::kChat, error, compat);
}

Prepared reply(std::string body) {
  Prepared prepared;
  prepared.reply_status = 200;
  prepared.reply_body = std::move(body);
  return prepared;
}

/// False: over the bound, and the document is not whole.
bool write_ids(JsonWriter& json, const std::vector<TokenId>& ids) {
  json.open_array();
  for (const TokenId id : ids) {
    if (json.size() > kAnswerBytesMax) return false;
    json.number(std::int64_t{id.value});
  }
  json.close_array();
  return true;
}

Prepared count_tokens(const Understood& body) {
  JsonWriter json;
  json.open_object().key("input_tokens").number(std::uint64_t{body.ids.size()}).close_object();
  return reply(json.take());
}

void write_sampling(JsonWriter& json, const recipe::ConversationRequest& request) {
  const recipe::Sampling& sampling = request.sampling;
  json.open_object();
  if (sampling.tokens_max) json.key("max_tokens").number(std::uint64_t{*sampling.tokens_max});
  json.key("temperature").real(sampling.temperature.value_or(1.0F));
  json.key("top_p").real(sampling.top_p.value_or(1.0F));
  json.key("top_k").number(std::uint64_t{sampling.top_k.value_or(0)});
  json.key("min_p").real(sampling.min_p.value_or(0.0F));
  if (sampling.seed) json.key("seed").number(*sampling.seed);
  json.key("ignore_eos").boolean(sampling.ignore_eos);
  json.key("stop").open_array();
  for (const auto& stop : request.parsing.stops) json.text(stop);
  json.close_array().close_object();
}

Prepared render(const Understood& body, const std::string& answer_id, recipe::Compat compat) {
  JsonWriter json;
  json.open_object();
  json.key("request_id").text(answer_id);
  json.key("model").text(body.request.model);
  json.key("prompt").text(body.prompt);
  json.key("token_ids");
  if (!write_ids(json, body.ids)) return too_long(compat);
  json.key("max_model_len").number(std::uint64_t{body.model->context});
  json.key("stream").boolean(body.request.stream);
  json.key("sampling_params");
  write_sampling(json, body.request);
  json.close_object();
  return reply(json.take());
}

Prepared show_tokens(const ServedModel& model, const std::vector<TokenId>& ids, bool strings,
                     recipe::Compat compat) {
  JsonWriter json;
  json.open_object();
  json.key("count").number(std::uint64_t{ids.size()});
  json.key("max_model_len").number(std::uint64_t{model.context});
  json.key("tokens");
  if (!write_ids(json, ids)) return too_long(compat);
  json.key("token_strs");
  if (strings) {
    json.open_array();
    for (const TokenId id : ids) {
      if (json.size() > kAnswerBytesMax) return too_long(compat);
      json.text(model.tokenizer->bytes_of(id));
    }
    json.close_array();
  } else {
    json.null();
  }
  json.close_object();
  return reply(json.take());
}

Result<Prepared> tokenize(const HttpArrived& arrived, const ServedModels& models) {
  constexpr auto kChat = recipe::Protocol::kChat;
  const auto read = recipe::read_tokenize(arrived.body);
  if (const auto* error = std::get_if<RequestError>(&read))
    return refusal_of(kChat, *error, models.conversion().compat);
  const auto& request = std::get<recipe::TokenizeRequest>(read);
  if (!request.prompt) {
    TROUPE_TRY_ASSIGN(const auto understood, models.understand(kChat, arrived.body));
    if (const auto* error = std::get_if<RequestError>(&understood)) {
      return refusal_of(kChat, *error, models.conversion().compat);
    }
    const auto& body = std::get<Understood>(understood);
    return show_tokens(*body.model, body.ids, request.strings, models.conversion().compat);
  }
  const auto found = models.find(request.model);
  if (const auto* error = std::get_if<RequestError>(&found))
    return refusal_of(kChat, *error, models.conversion().compat);
  const ServedModel& model = *std::get<const ServedModel*>(found);
  return show_tokens(model, raw_prompt(model, *request.prompt, request.add_special_tokens),
                     request.strings, models.conversion().compat);
}

Prepared detokenize(const HttpArrived& arrived, const ServedModels& models) {
  constexpr auto kChat = recipe::Protocol::kChat;
  const auto read = recipe::read_detokenize(arrived.body);
  if (const auto* error = std::get_if<RequestError>(&read))
    return refusal_of(kChat, *error, models.conversion().compat);
  const auto& request = std::get<recipe::DetokenizeRequest>(read);
  const auto found = models.find(request.model);
  if (const auto* error = std::get_if<RequestError>(&found))
    return refusal_of(kChat, *error, models.conversion().compat);
  const ServedModel& model = *std::get<const ServedModel*>(found);
  if (const auto error = unknown_token(model, request.tokens, "tokens")) {
    return refusal_of(kChat, *error, models.conversion().compat);
  }
  std::size_t bytes = 0;
  for (const TokenId id : request.tokens) bytes += model.tokenizer->bytes_of(id).size();
  JsonWriter json;
  json.open_object().key("prompt");
  if (bytes > kAnswerBytesMax) return too_long(models.conversion().compat);
  json.text(model.tokenizer->decode(request.tokens, true)).close_object();
  if (json.size() > kAnswerBytesMax) return too_long(models.conversion().compat);
  return reply(json.take());
}

}  // namespace

Prepared refusal_of(recipe::Protocol protocol, const RequestError& error, recipe::Compat compat) {
  Prepared prepared;
  prepared.reply_status = static_cast<std::uint16_t>(error.status);
  prepared.reply_body = recipe::error_body(protocol, compat, error);
  prepared.reply_code = error.code;
  return prepared;
}

Result<Prepared> answer_without_rank(Operation operation, const HttpArrived& arrived,
                                     const std::string& answer_id, const ServedModels& models) {
  if (operation == Operation::kTokenize) return tokenize(arrived, models);
  if (operation == Operation::kDetokenize) return detokenize(arrived, models);
  TROUPE_ASSERT(operation == Operation::kCountTokens || operation == Operation::kRender,
                "all others generate");
  const recipe::Protocol protocol = protocol_of(arrived.path);
  TROUPE_TRY_ASSIGN(const auto understood, models.understand(protocol, arrived.body));
  if (const auto* error = std::get_if<RequestError>(&understood)) {
    return refusal_of(protocol, *error, models.conversion().compat);
  }
  const auto& body = std::get<Understood>(understood);
  return operation == Operation::kRender ? render(body, answer_id, models.conversion().compat)
                                         : count_tokens(body);
}

}  // namespace troupe
