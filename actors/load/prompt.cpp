#include "actors/load/prompt.hpp"

#include <algorithm>

#include "runtime/base/rng.hpp"

namespace troupe {

std::uint64_t tokens_of(const PromptPieces& pieces) {
  std::uint64_t sum = 0;
  for (const PromptPiece& piece : pieces) sum += piece.tokens;
  return sum;
}

std::vector<std::uint64_t> block_chain(const PromptPieces& pieces, std::uint32_t block_tokens) {
  TROUPE_ASSERT(block_tokens > 0, "a block has tokens");
  std::vector<std::uint64_t> chain;
  chain.reserve(tokens_of(pieces) / block_tokens);
  std::uint64_t hash = block_tokens;
  std::uint32_t room = block_tokens;
  for (const PromptPiece& piece : pieces) {
    // A stretch is named by its content and where it lies in it.
    for (std::uint32_t from = 0; from < piece.tokens;) {
      const std::uint32_t taken = std::min(room, piece.tokens - from);
      hash = mix64(mix64(hash, piece.content), (std::uint64_t{from} << 32) | taken);
      from += taken;
      room -= taken;
      if (room > 0) continue;
      chain.push_back(hash);
      room = block_tokens;
    }
  }
  return chain;
}

}  // namespace troupe
