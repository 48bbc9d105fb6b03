// What POST /v1/chat/completions answers: server-sent events, or one body; and the model list.
//
// Order of a stream: role_chunk, content_chunk (any number), finish_chunk, usage_chunk (only if
// stream_options.include_usage), done. After a failure in mid-stream: error_event and the end of
// the connection, never a finish chunk and never done.
//
// Invariants, each from a client that broke without it (shared serving/CLIENTS.md):
//   1. An event is one "data:" line of valid UTF-8 JSON and an empty line; no id:, no retry:.
//   2. `choices` is always an array, empty in the usage chunk only, which is the only one with
//      `usage`; role is "assistant" in the first chunk and absent after it; finish_reason is null
//      or valid; there is no tool_calls key, not even an empty or null one.
//   3. Text comes whole: each content_chunk is valid by itself.
//
// Threads: immutable after building. Ids and times come from the caller; nothing here is random.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/recipe/api_error.hpp"

namespace troupe {

class JsonWriter;

enum class FinishReason : std::uint8_t {
  kStop,    ///< end of turn or stop string
  kLength,  ///< the token limit or the end of the context
};
std::string_view to_string(FinishReason reason);

struct Usage {
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;
  std::uint64_t cached_tokens = 0;  ///< of the prompt, found in a prefix cache
};

/// The log-probability of one generated token. `bytes` are the token's own, maybe half a character.
struct TokenLogprob {
  struct Candidate {
    std::string bytes;
    double logprob = 0;
  };
  std::string bytes;
  double logprob = 0;
  std::vector<Candidate> top;
};

struct ModelEntry {
  std::string id;
  std::int64_t created = 0;  ///< seconds since 1970
  std::uint64_t context_tokens = 0;
};

class ChatEvents {
 public:
  /// What is the same in all chunks of an answer; `created` in seconds since 1970.
  struct Identity {
    std::string id;  ///< "chatcmpl-..."
    std::int64_t created = 0;
    std::string model;
    std::string fingerprint;
  };
  explicit ChatEvents(Identity identity) : identity_(std::move(identity)) {}

  std::string role_chunk() const;
  /// `logprobs` of the tokens that this text came from; the key is absent if there are none.
  std::string content_chunk(std::string_view text,
                            std::span<const TokenLogprob> logprobs = {}) const;
  std::string finish_chunk(FinishReason reason) const;
  std::string usage_chunk(const Usage& usage) const;
  static std::string_view done() { return "data: [DONE]\n\n"; }
  static std::string error_event(const ApiError& error);

  /// The whole answer as one body, for stream=false.
  std::string completion_body(std::string_view text, FinishReason reason, const Usage& usage,
                              std::span<const TokenLogprob> logprobs = {}) const;

 private:
  void open(JsonWriter& json, std::string_view object) const;

  Identity identity_;
};

/// GET /v1/models.
std::string models_body(std::span<const ModelEntry> models);

}  // namespace troupe
