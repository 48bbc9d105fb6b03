// The body of POST /v1/chat/completions, read and checked.
//
// Why so strict: what passes here reaches an engine that is shared with others. A NaN temperature
// or a stop string without characters must end as a 400 that names the parameter.
// Why so lenient: clients send fields of every vendor. Unknown fields are ignored, null is absent,
// content may be a string or a list of text parts (joined by line ends).
//
// Known, but not done yet, and therefore refused when they ask for something: tools, response
// formats other than text, more than one choice, penalties, images and other media.
//
// Bounds: JSON nested at most 64 deep, 16 stop strings of at most 1,024 bytes, 1,024 bias entries,
// 20 top logprobs. The size of the body is bounded by the HTTP server; the memory used here is at
// most about 12 times the body. Parsing is iterative: nesting cannot exhaust the stack.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/strong.hpp"
#include "runtime/recipe/api_error.hpp"
#include "runtime/recipe/conversation.hpp"

namespace troupe {

struct ChatRequest {
  std::string model;  ///< empty: not given
  std::vector<ChatMessage> messages;
  bool stream = false;
  bool include_usage = false;               ///< stream_options.include_usage
  std::optional<std::uint32_t> tokens_max;  ///< max_completion_tokens, else max_tokens; 1 or more
  std::optional<double> temperature;        ///< 0 to 2
  std::optional<double> top_p;              ///< above 0, to 1
  std::optional<std::uint32_t> top_k;       ///< 0: off
  std::optional<double> min_p;              ///< 0 to 1
  std::optional<std::uint64_t> seed;
  std::vector<std::string> stop;                      ///< none is empty
  std::vector<std::pair<TokenId, float>> logit_bias;  ///< ids not checked against a vocabulary
  bool logprobs = false;
  std::uint32_t top_logprobs = 0;  ///< 0 to 20
  bool ignore_eos = false;         ///< go on to tokens_max (vLLM's extension, for benchmarks)
  std::string user;
};

using ParsedChatRequest = std::variant<ChatRequest, ApiError>;

/// Requires nothing: any bytes may come.
ParsedChatRequest parse_chat_request(std::string_view body);

}  // namespace troupe
