// Causal attention of a few query tokens over paged keys and values.
//
// Why: keys and values of a sequence lie in blocks of kKvBlockTokens positions anywhere in a pool.
// The heads of a group (GQA) share them, so a tile of queries is group x tokens rows that go
// through each block together, as two small matrix products with an online softmax between them.
//
// Layout of a block for one KV head: keys[dimension][position], so that eight positions are one
// vector of scores; values[position][dimension].
//
// Invariants:
//   1. A query row sees the blocks in ascending order, each from its first position to its own, and
//      no slot beyond it: neither other rows of the batch, nor how a prompt was cut into chunks,
//      nor stale data in a block can change a bit of its result.
//
// Threads: attend() is pure but for `scratch`, one a thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/cpu/kernels.hpp"
#include "runtime/base/strong.hpp"

namespace troupe::cpu {

inline constexpr std::size_t kKvBlockTokens = 128;

/// The keys and values of one sequence, layer and KV head. Block b of the pool holds keys at
/// keys + b * block_stride, and values likewise (in floats).
struct PagedHead {
  const float* keys;
  const float* values;
  std::size_t block_stride;
  std::span<const BlockId> blocks;
};

/// Consecutive tokens of a sequence. Query head g of the group, token t, is at
/// queries + t * token_stride + g * head_dim; outputs lie the same way.
struct QueryTile {
  const float* queries;
  float* outputs;
  std::size_t token_stride;
  std::size_t tokens;
  std::size_t position;  ///< of the first token
  std::size_t group;     ///< query heads that share the KV head
  std::size_t head_dim;
};

/// Space for one tile.
class AttentionScratch {
 public:
  /// Tokens that a tile should have: about 48 rows, a few register blocks.
  static std::size_t tile_tokens(std::size_t group);

  AttentionScratch(std::size_t group, std::size_t head_dim);

 private:
  friend class TileAttention;
  std::vector<float> queries_;  // [row][head_dim], scaled
  std::vector<float> outputs_;  // [row][head_dim]
  std::vector<float> scores_;   // [row][kKvBlockTokens]
  std::vector<float> maxima_;   // [row], of the scores seen so far
  std::vector<float> sums_;     // [row], of exp(score - maximum)
};

/// outputs = softmax(queries * keys / sqrt(head_dim)) * values.
/// Requires: tile.tokens <= tile_tokens(group) of the scratch; blocks cover position + tokens.
void attend(const Kernels& kernels, const QueryTile& tile, const PagedHead& head,
            AttentionScratch& scratch);

}  // namespace troupe::cpu
