#include "tools/recipe/converted_json.hpp"

#include <string_view>
#include <type_traits>

#include "runtime/recipe/text/json_writer.hpp"

namespace troupe {
namespace {

using namespace recipe;

std::string_view name_of(ModelVersion version) {
  switch (version) {
    case ModelVersion::kDeepseekV4:
      return "DeepseekV4Pro";
    case ModelVersion::kDeepseekV41:
      return "DeepseekV41Flash";
    case ModelVersion::kChatml:
      return "Chatml";
  }
  return "?";
}

std::string_view name_of(Effort effort) {
  switch (effort) {
    case Effort::kLow:
      return "low";
    case Effort::kHigh:
      return "high";
    case Effort::kXhigh:
      return "xhigh";
    case Effort::kMax:
      return "max";
  }
  return "?";
}

std::string_view name_of(ToolChoice choice) {
  switch (choice) {
    case ToolChoice::kNone:
      return "none";
    case ToolChoice::kAuto:
      return "auto";
    case ToolChoice::kRequired:
      return "required";
  }
  return "?";
}

std::string_view name_of(FormatKind kind) {
  switch (kind) {
    case FormatKind::kText:
      return "text";
    case FormatKind::kJsonObject:
      return "json_object";
    case FormatKind::kJsonSchema:
      return "json_schema";
    case FormatKind::kRegex:
      return "regex";
  }
  return "?";
}

/// The reference has no stage for an answer that begins as content.
std::string_view name_of(InitialStage stage) {
  switch (stage) {
    case InitialStage::kContent:
      return "";
    case InitialStage::kContentContinuation:
      return "ContentContinuation";
    case InitialStage::kReasoning:
      return "ReasoningStart";
    case InitialStage::kReasoningContinuation:
      return "ReasoningContinuation";
  }
  return "?";
}

template <class Number>
void write_optional(JsonWriter& json, std::string_view key, const std::optional<Number>& value) {
  json.key(key);
  if (!value) {
    json.null();
  } else if constexpr (std::is_floating_point_v<Number>) {
    json.real(static_cast<double>(*value));
  } else {
    json.number(static_cast<std::uint64_t>(*value));
  }
}

/// What the reference's requests do not have, so that its vectors do not expect it.
void write_extensions(JsonWriter& json, const Sampling& sampling) {
  if (sampling.top_k) write_optional(json, "top_k", sampling.top_k);
  if (sampling.min_p) write_optional(json, "min_p", sampling.min_p);
  if (sampling.logit_bias.empty()) return;
  json.key("logit_bias").open_object();
  for (const auto& [token, bias] : sampling.logit_bias) {
    json.key(std::to_string(token.value)).real(static_cast<double>(bias));
  }
  json.close_object();
}

void write_sampling(JsonWriter& json, const Sampling& sampling) {
  write_optional(json, "max_tokens", sampling.tokens_max);
  write_optional(json, "temperature", sampling.temperature);
  write_optional(json, "top_p", sampling.top_p);
  json.key("logprobs").boolean(sampling.logprobs);
  write_optional(json, "top_logprobs", sampling.top_logprobs);
  json.key("seed");
  if (sampling.seed) {
    json.number(static_cast<std::int64_t>(*sampling.seed));  // as it came: [-2^63, 2^63)
  } else {
    json.null();
  }
  write_extensions(json, sampling);
  json.key("output_constraint");
  if (!sampling.constraint) {
    json.null();
    return;
  }
  json.open_object();
  json.key("kind").text(sampling.constraint->kind);
  json.key("schema").text(sampling.constraint->schema);
  json.close_object();
}

void write_parsing(JsonWriter& json, const ParsingOptions& parsing) {
  json.key("parse_tool_calls").boolean(parsing.tools);
  json.key("starts_in_tool_calls").boolean(parsing.starts_in_tools);
  json.key("parse_json_output").boolean(parsing.json);
  json.key("thinking_initial_stage").text_or_null(name_of(parsing.initial));
  json.key("stop_sequences").open_array();
  for (const std::string& stop : parsing.stops) json.text(stop);
  json.close_array();
}

}  // namespace

std::string converted_json(const ConversationRequest& request) {
  const Conversation& conversation = request.conversation;
  JsonWriter json;
  json.open_object();
  json.key("model_version").text(name_of(request.version));
  json.key("stream").boolean(request.stream);
  json.key("thinking").boolean(conversation.thinking);
  json.key("reasoning_effort")
      .text_or_null(conversation.thinking ? name_of(conversation.effort) : "");
  json.key("tool_choice").text(name_of(conversation.tool_choice));
  json.key("response_format").text(name_of(conversation.format.kind));
  write_sampling(json, request.sampling);
  write_parsing(json, request.parsing);
  json.close_object();
  return json.take();
}

std::string image_sources_json(const RenderedPrompt& prompt) {
  JsonWriter json;
  json.open_array();
  for (const ImageSource& image : prompt.images) {
    json.open_object();
    json.key("kind").text(image.kind == ImageSource::Kind::kUrl ? "url" : "data_url");
    json.key("detail").text(image.detail);
    json.key("path").text(image.path);
    json.close_object();
  }
  json.close_array();
  return json.take();
}

}  // namespace troupe
