#include "runtime/recipe/stream/answer_json.hpp"

#include <algorithm>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe::recipe {
namespace {

/// JSON has no infinity; this is what vendors send for a token that cannot come.
constexpr double kLogprobMin = -9999.0;

void append_token_text(std::string& out, std::string_view bytes, bool strict) {
  if (strict || is_valid_utf8(bytes)) return append_json_string(out, bytes);
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += "\\\\x";
    out += kHex[byte >> 4];
    out += kHex[byte & 0xF];
  }
  out += '"';
}

/// Always as a real number: -1.0, not -1.
void append_logprob(std::string& out, double logprob) {
  const std::size_t begin = out.size();
  append_json_real(out, logprob);
  if (out.find_first_not_of("-0123456789", begin) == std::string::npos) out += ".0";
}

void append_token(std::string& out, TokenId id, double logprob, const AnswerContext& context) {
  const std::string_view bytes = context.tokenizer ? context.tokenizer->bytes_of(id) : "";
  out += "\"token\":";
  append_token_text(out, bytes, context.strict());
  out += ",\"logprob\":";
  append_logprob(out, context.strict() ? std::max(logprob, kLogprobMin) : logprob);
  out += ",\"bytes\":[";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) out += ',';
    append_number(out, std::uint64_t{static_cast<unsigned char>(bytes[i])});
  }
  out += ']';
}

std::string_view messages_stop_reason(AnswerEnd end) {
  switch (end) {
    case AnswerEnd::kStop:
      return "end_turn";
    case AnswerEnd::kStopString:
      return "stop_sequence";
    case AnswerEnd::kToolCalls:
      return "tool_use";
    case AnswerEnd::kLength:
      return "max_tokens";
    case AnswerEnd::kContentFilter:
      return "refusal";
  }
  return "end_turn";
}

}  // namespace

std::string_view argument_json(const Delta& delta, std::string& scratch) {
  if (delta.kind != DeltaKind::kArgumentText) return delta.text;
  scratch.clear();
  append_json_string(scratch, delta.text);
  return std::string_view(scratch).substr(1, scratch.size() - 2);
}

void append_logprobs(std::string& out, std::span<const LoggedToken> tokens,
                     const AnswerContext& context) {
  bool comma = false;
  for (const LoggedToken& token : tokens) {
    out += comma ? ",{" : "{";
    comma = true;
    append_token(out, token.id, token.logprob.logprob, context);
    out += ",\"top_logprobs\":[";
    for (std::size_t i = 0; i < token.logprob.top.size(); ++i) {
      out += i > 0 ? ",{" : "{";
      append_token(out, token.logprob.top[i].id, token.logprob.top[i].logprob, context);
      out += '}';
    }
    out += "]}";
  }
}

void append_chat_usage(std::string& out, const Usage& usage, bool strict) {
  out += "{\"prompt_tokens\":";
  append_number(out, usage.prompt_tokens);
  out += ",\"completion_tokens\":";
  append_number(out, usage.completion_tokens);
  out += ",\"total_tokens\":";
  append_number(out, usage.prompt_tokens + usage.completion_tokens);
  out += ",\"prompt_tokens_details\":{\"cached_tokens\":";
  append_number(out, usage.cached_tokens);
  out += '}';
  if (usage.reasoning_tokens) {
    out += ",\"completion_tokens_details\":{\"reasoning_tokens\":";
    append_number(out, *usage.reasoning_tokens);
    out += '}';
  }
  if (!strict) {
    out += ",\"prompt_cache_hit_tokens\":";
    append_number(out, usage.cached_tokens);
    out += ",\"prompt_cache_miss_tokens\":";
    append_number(out, usage.prompt_tokens - std::min(usage.cached_tokens, usage.prompt_tokens));
  }
  out += '}';
}

std::string_view chat_finish_reason(AnswerEnd end) {
  switch (end) {
    case AnswerEnd::kStop:
    case AnswerEnd::kStopString:
      return "stop";
    case AnswerEnd::kToolCalls:
      return "tool_calls";
    case AnswerEnd::kLength:
      return "length";
    case AnswerEnd::kContentFilter:
      return "content_filter";
  }
  return "stop";
}

void append_messages_usage(std::string& out, const Usage& usage) {
  out += "{\"input_tokens\":";
  append_number(out, usage.prompt_tokens - std::min(usage.cached_tokens, usage.prompt_tokens));
  out += ",\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":";
  append_number(out, usage.cached_tokens);
  out += ",\"output_tokens\":";
  append_number(out, usage.completion_tokens);
  out += ",\"service_tier\":\"standard\"}";
}

void append_messages_stop(std::string& out, const Outcome& outcome) {
  out += "\"stop_reason\":\"";
  out += messages_stop_reason(outcome.end);
  out += "\",\"stop_sequence\":";
  if (outcome.end == AnswerEnd::kStopString) {
    append_json_string(out, outcome.stop);
  } else {
    out += "null";
  }
}

}  // namespace troupe::recipe
