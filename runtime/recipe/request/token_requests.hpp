// The bodies of POST /tokenize and /detokenize, as vLLM has them: between text and token ids,
// without a conversation. A /tokenize with `messages` is a chat: convert_request(Protocol::kChat).
//
// Threads: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/base/strong.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe::recipe {

struct TokenizeRequest {
  std::string model;                  ///< empty: the default
  std::optional<std::string> prompt;  ///< nothing: the body is a chat's
  bool add_special_tokens = true;     ///< the model's first token, if its prompts have one
  bool strings = false;               ///< the answer spells the tokens too
};

struct DetokenizeRequest {
  std::string model;  ///< empty: the default
  std::vector<TokenId> tokens;
};

std::variant<TokenizeRequest, RequestError> read_tokenize(std::string_view body);
std::variant<DetokenizeRequest, RequestError> read_detokenize(std::string_view body);

}  // namespace troupe::recipe
