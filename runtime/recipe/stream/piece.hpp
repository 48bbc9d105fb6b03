// What the parser sees: text, where it came from, and what is counted with it.
//
// Why the origin: `</think>` that a model writes with ordinary tokens is text; only the control
// token of that spelling ends the reasoning (recipe SPEC 5.1). A piece is wholly of one origin.
//
// Ownership: views, valid while the piece is handled. Threads: plain values.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/recipe/stream/chunk.hpp"

namespace troupe::recipe {

/// The spellings of the two control tokens that steer the parser.
inline constexpr std::string_view kThinkEnd = "</think>";
inline constexpr std::string_view kDsml =
    "\xEF\xBD\x9C"
    "DSML"
    "\xEF\xBD\x9C";

/// A generated token with its log-probability.
struct LoggedToken {
  TokenId id{0};
  TokensChunk::Logprob logprob;
};

struct Piece {
  std::string_view text;  ///< whole UTF-8 characters
  bool special = false;   ///< may spell kThinkEnd or kDsml: such a token's, or pushed as text
  bool is_text = false;   ///< pushed as text
  std::uint64_t tokens = 0;
  std::span<const LoggedToken> logprobs;
};

class PieceSink {
 public:
  virtual void piece(const Piece& piece) = 0;

 protected:
  ~PieceSink() = default;
};

}  // namespace troupe::recipe
