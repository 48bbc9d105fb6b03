#include "runtime/recipe/request/request.hpp"

#include <algorithm>
#include <limits>

#include "runtime/recipe/request/body_reader.hpp"
#include "runtime/recipe/request/chat_convert.hpp"
#include "runtime/recipe/request/chat_shape.hpp"
#include "runtime/recipe/request/completions_convert.hpp"
#include "runtime/recipe/request/messages_convert.hpp"
#include "runtime/recipe/request/responses_convert.hpp"

namespace troupe::recipe {
namespace {

using Converted = std::variant<ConversationRequest, RequestError>;

// What the answer gets unless the client says so, SPEC 3.2.
constexpr std::uint64_t kTokensPlain = 8192;
constexpr std::uint64_t kTokensThinking = 65536;
constexpr std::uint64_t kTokensThinkingMax = 131072;

/// Reads a body of shape Body, checks its shape and converts it.
template <class Body, class Convert>
Converted convert(std::string_view text, const ConversionOptions& options, Convert convert_body) {
  ConversationRequest request;
  const auto error = read_body<Body>(text, options.compat,
                                     [&](const Body& body, const JsonTape& tape, Issues& issues) {
                                       Conversion conversion{options, tape, issues, {}};
                                       const bool right = convert_body(body, conversion);
                                       request = std::move(conversion.request);
                                       return right;
                                     });
  if (error) return *error;
  return request;
}

std::uint64_t default_tokens(const ConversationRequest& request) {
  if (request.version == ModelVersion::kChatml) return std::numeric_limits<std::uint32_t>::max();
  if (!request.conversation.thinking) return kTokensPlain;
  return request.conversation.effort == Effort::kMax ? kTokensThinkingMax : kTokensThinking;
}

const char* prompt_member(Protocol protocol) {
  if (protocol == Protocol::kCompletions) return "prompt";
  return protocol == Protocol::kResponses ? "input" : "messages";
}

RequestError too_long(const ConversationRequest& request, std::uint64_t prompt,
                      std::uint64_t answer, std::uint64_t limit) {
  RequestError error;
  error.message = "This model's maximum context length is " + std::to_string(limit) +
                  " tokens. However, you requested " + std::to_string(prompt + answer) +
                  " tokens (" + std::to_string(prompt) + " in the messages, " +
                  std::to_string(answer) +
                  " in the completion). Please reduce the length of the messages or completion.";
  if (request.parsing.compat == Compat::kDefault) {
    error.param = prompt_member(request.answer.protocol);
    error.code = "context_length_exceeded";
  }
  return error;
}

}  // namespace

RequestError bad_json(const Error& error, Compat compat) {
  RequestError refused;
  refused.stage = RequestError::Stage::kParse;
  const bool compatible = compat == Compat::kDeepseek;
  refused.message = compatible ? "invalid JSON request: " : "The request body is not valid JSON: ";
  refused.message +=
      error.code == Code::kCancelled ? "it holds too many values" : std::string(error.message);
  if (!compatible) refused.code = "invalid_json";
  return refused;
}

Converted convert_request(Protocol protocol, std::string_view body,
                          const ConversionOptions& options) {
  switch (protocol) {
    case Protocol::kChat:
      return convert<ChatBody>(body, options, convert_chat);
    case Protocol::kResponses:
      return convert<ResponsesBody>(body, options, convert_responses);
    case Protocol::kCompletions:
      return convert<CompletionsBody>(body, options, convert_completions);
    case Protocol::kMessages:
      break;
  }
  return convert<MessagesBody>(body, options, convert_messages);
}

std::variant<std::uint32_t, RequestError> resolve_max_tokens(const ConversationRequest& request,
                                                             std::uint64_t prompt_tokens,
                                                             std::uint64_t context_limit) {
  const std::uint64_t room = context_limit > prompt_tokens ? context_limit - prompt_tokens : 0;
  const auto asked = request.sampling.tokens_max;
  if (!asked) {
    // A prompt that fills the context gets one token of the reference, and a clear no here.
    const bool full = request.parsing.compat == Compat::kDefault && room == 0;
    if (full || prompt_tokens > context_limit) {
      return too_long(request, prompt_tokens, full ? 1 : 0, context_limit);
    }
    return static_cast<std::uint32_t>(
        std::max<std::uint64_t>(1, std::min(default_tokens(request), room)));
  }
  if (*asked <= room) return *asked;
  if (!request.sampling.clamp_tokens || room == 0) {
    return too_long(request, prompt_tokens, *asked, context_limit);
  }
  return static_cast<std::uint32_t>(room);
}

}  // namespace troupe::recipe
