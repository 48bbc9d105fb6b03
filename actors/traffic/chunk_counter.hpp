// Reads an answer that comes as server-sent events of chat completion chunks.
//
// An event whose delta has text (content, reasoning or tool call) counts as one token; if a usage
// object comes, it is the truth for the whole answer: completion_tokens, prompt_tokens, and how
// many of these came from a cache (prompt_tokens_details.cached_tokens). An event with an error
// object marks the answer as failed. Bytes may be cut anywhere.
//
// Bounds: an event above kEventMax bytes is not looked into (one token); of the text at most
// kTextMax bytes are kept, and only if that was asked for. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// What the server says that it counted.
struct ServerUsage {
  std::optional<std::uint32_t> prompt_tokens;
  std::optional<std::uint32_t> cached_tokens;
  std::optional<std::uint32_t> output_tokens;
};

class ChunkCounter {
 public:
  static constexpr std::size_t kEventMax = 1u << 20;
  static constexpr std::size_t kTextMax = 1u << 20;

  /// `keeps_text`: of the content, for the next turn of its session.
  explicit ChunkCounter(bool keeps_text = false) : keeps_text_(keeps_text) {}

  /// Takes the next bytes; returns how many tokens they brought.
  std::uint32_t feed(std::string_view bytes);

  std::uint32_t counted() const { return counted_; }
  const ServerUsage& usage() const { return usage_; }
  /// Moves the kept text out.
  std::string take_text() { return std::move(text_); }
  /// The code of the error that an event carried, "" if it had none.
  const std::optional<std::string>& error() const { return error_; }
  /// Whether "[DONE]" came.
  bool done() const { return done_; }

 private:
  void line(std::string_view text);
  void event(std::string_view data);
  void keep(std::string_view text);

  bool keeps_text_;
  std::string partial_;  ///< a line without its end yet
  bool oversized_ = false;
  std::uint32_t counted_ = 0;
  ServerUsage usage_;
  std::string text_;
  std::optional<std::string> error_;
  bool done_ = false;
};

}  // namespace troupe
