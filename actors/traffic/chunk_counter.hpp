// Counts the tokens of an answer that comes as server-sent events of chat completion chunks.
//
// An event whose delta has text (content, reasoning or tool call) counts as one token; if a usage
// object comes, its completion_tokens is the truth for the whole answer. An event with an error
// object marks the answer as failed. Bytes may be cut anywhere.
//
// Bounds: an event above kEventMax bytes is not looked into (one token). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

class ChunkCounter {
 public:
  static constexpr std::size_t kEventMax = 1u << 20;

  /// Takes the next bytes; returns how many tokens they brought.
  std::uint32_t feed(std::string_view bytes);

  std::uint32_t counted() const { return counted_; }
  std::optional<std::uint32_t> usage_tokens() const { return usage_tokens_; }
  /// The code of the error that an event carried, "" if it had none.
  const std::optional<std::string>& error() const { return error_; }
  /// Whether "[DONE]" came.
  bool done() const { return done_; }

 private:
  void line(std::string_view text);
  void event(std::string_view data);

  std::string partial_;  ///< a line without its end yet
  bool oversized_ = false;
  std::uint32_t counted_ = 0;
  std::optional<std::uint32_t> usage_tokens_;
  std::optional<std::string> error_;
  bool done_ = false;
};

}  // namespace troupe
