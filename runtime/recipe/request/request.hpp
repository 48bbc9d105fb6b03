// Requests of the three vendor protocols, from the bytes of a body to one ConversationRequest:
//   POST /v1/chat/completions   Protocol::kChat        chat_*.cpp
//   POST /v1/responses          Protocol::kResponses   responses_*.cpp
//   POST /v1/messages           Protocol::kMessages    messages_*.cpp
//   POST /v1/completions        Protocol::kCompletions completions_*.cpp
//
// Each protocol: *_shape.hpp says what a body looks like, *_shape.cpp what must be there,
// *_convert.cpp what it means. json_shape.hpp reads JSON into the shapes in one pass.
//
// Bounds: a body nests at most 127 deep; its lists take at most 20 times its size and 16 MiB,
// schemas and arguments at most 48 MB. A body of any bytes gives a request or an error.
//
// Source: seed 000; recipe SPEC 3, 6, 7. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe::recipe {

std::variant<ConversationRequest, RequestError> convert_request(Protocol protocol,
                                                                std::string_view body,
                                                                const ConversionOptions& options);

/// How many tokens the answer may have, 1 or more: what was asked for, or the model's default
/// lowered to the room that a prompt of `prompt_tokens` leaves within `context_limit` (SPEC 3.2).
/// The error says which of the two numbers is too large.
std::variant<std::uint32_t, RequestError> resolve_max_tokens(const ConversationRequest& request,
                                                             std::uint64_t prompt_tokens,
                                                             std::uint64_t context_limit);

}  // namespace troupe::recipe
