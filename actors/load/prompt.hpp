// A prompt without its text: pieces whose contents have names.
//
// Why: a load generator must say which prompts share a beginning without carrying megabytes of
// text. A piece is the first `tokens` tokens of an endless content; equal names are equal
// contents. So two prompts share exactly the tokens up to the first difference of their pieces,
// both as text (actors/traffic/prompt_text.hpp) and as hash chains of blocks (block_chain).
//
// Pure. Units: tokens.
#pragma once

#include <cstdint>
#include <vector>

namespace troupe {

/// Whose words a piece is, in a chat.
enum class PieceRole : std::uint8_t { kSystem, kUser, kAssistant };

struct PromptPiece {
  std::uint64_t content = 0;  ///< the name
  std::uint32_t tokens = 0;   ///< of its beginning
  PieceRole role = PieceRole::kUser;
  friend bool operator==(const PromptPiece&, const PromptPiece&) = default;
};
using PromptPieces = std::vector<PromptPiece>;

/// An image that belongs to the prompt; equal names and sizes are equal images.
struct PromptImage {
  std::uint64_t content = 0;
  std::uint32_t width = 0;  ///< pixels
  std::uint32_t height = 0;
  friend bool operator==(const PromptImage&, const PromptImage&) = default;
};

std::uint64_t tokens_of(const PromptPieces& pieces);

/// A hash for each whole block of `block_tokens` tokens, which stands for all tokens up to its end:
/// what a prefix cache of such blocks is asked for. Requires: block_tokens > 0.
std::vector<std::uint64_t> block_chain(const PromptPieces& pieces, std::uint32_t block_tokens);

}  // namespace troupe
