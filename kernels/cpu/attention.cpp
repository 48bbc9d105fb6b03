#include "kernels/cpu/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/base/assert.hpp"

namespace troupe::cpu {

std::size_t AttentionScratch::tile_tokens(std::size_t group) {
  constexpr std::size_t kRows = 48;
  return std::max<std::size_t>(1, kRows / group);
}

AttentionScratch::AttentionScratch(std::size_t group, std::size_t head_dim) {
  const std::size_t rows = group * tile_tokens(group);
  queries_.resize(rows * head_dim);
  outputs_.resize(rows * head_dim);
  scores_.resize(rows * kKvBlockTokens);
  maxima_.resize(rows);
  sums_.resize(rows);
}

/// One call of attend(). Rows are ordered by position, then by head.
class TileAttention {
 public:
  TileAttention(const Kernels& kernels, const QueryTile& tile, AttentionScratch& scratch)
      : kernels_(kernels), tile_(tile), scratch_(scratch), rows_(tile.tokens * tile.group) {}

  void load_queries() {
    const float scale = 1.0f / std::sqrt(static_cast<float>(tile_.head_dim));
    const std::size_t row_size = tile_.group * tile_.head_dim;  // a token's heads are adjacent
    for (std::size_t t = 0; t < tile_.tokens; ++t) {
      std::copy_n(tile_.queries + t * tile_.token_stride, row_size,
                  scratch_.queries_.data() + t * row_size);
    }
    kernels_.scale(scratch_.queries_.data(), scale, rows_ * tile_.head_dim);
    std::fill_n(scratch_.outputs_.data(), rows_ * tile_.head_dim, 0.0f);
    std::fill_n(scratch_.maxima_.data(), rows_, -std::numeric_limits<float>::infinity());
    std::fill_n(scratch_.sums_.data(), rows_, 0.0f);
  }

  void add_block(std::size_t block_start, const float* keys, const float* values) {
    const std::size_t first_token = block_start > tile_.position ? block_start - tile_.position : 0;
    const std::size_t first_row = first_token * tile_.group;
    score_block(block_start, first_row, keys);
    for (std::size_t row = first_row; row < rows_; ++row)
      soften_row(row, visible(block_start, row));
    weigh_values(block_start, first_row, values);
  }

  void store_outputs() {
    const std::size_t row_size = tile_.group * tile_.head_dim;
    for (std::size_t row = 0; row < rows_; ++row) {
      kernels_.scale(output(row), 1.0f / scratch_.sums_[row], tile_.head_dim);
    }
    for (std::size_t t = 0; t < tile_.tokens; ++t) {
      std::copy_n(scratch_.outputs_.data() + t * row_size, row_size,
                  tile_.outputs + t * tile_.token_stride);
    }
  }

 private:
  float* output(std::size_t row) { return scratch_.outputs_.data() + row * tile_.head_dim; }
  float* scores(std::size_t row) { return scratch_.scores_.data() + row * kKvBlockTokens; }

  /// Positions of the block that this row may see: at least one.
  std::size_t visible(std::size_t block_start, std::size_t row) const {
    const std::size_t position = tile_.position + row / tile_.group;
    return std::min(kKvBlockTokens, position + 1 - block_start);
  }

  void score_block(std::size_t block_start, std::size_t first_row, const float* keys) {
    kernels_.gemm({.a = scratch_.queries_.data() + first_row * tile_.head_dim,
                   .lda = tile_.head_dim,
                   .b = keys,
                   .ldb = kKvBlockTokens,
                   .c = scores(first_row),
                   .ldc = kKvBlockTokens,
                   .m = rows_ - first_row,
                   .n = visible(block_start, rows_ - 1),
                   .k = tile_.head_dim,
                   .mode = GemmMode::kStore});
  }

  /// Turns a row's scores into weights, and rescales what earlier blocks gave.
  void soften_row(std::size_t row, std::size_t count) {
    const float before = scratch_.maxima_[row];
    const float now = std::max(before, kernels_.maximum(scores(row), count));
    float factor = before;
    kernels_.exponentials(&factor, now, 1);
    kernels_.scale(output(row), factor, tile_.head_dim);
    const float sum = kernels_.exponentials(scores(row), now, count);
    scratch_.sums_[row] = scratch_.sums_[row] * factor + sum;
    scratch_.maxima_[row] = now;
  }

  /// What the first row sees, all rows see; the few positions beyond it are added row by row. The
  /// sum goes on where it stopped, so the split leaves no trace in the result.
  void weigh_values(std::size_t block_start, std::size_t first_row, const float* values) {
    const std::size_t common = visible(block_start, first_row);
    weigh(first_row, rows_ - first_row, 0, common, values);
    for (std::size_t row = first_row; row < rows_; ++row) {
      const std::size_t count = visible(block_start, row);
      if (count > common) weigh(row, 1, common, count - common, values);
    }
  }

  void weigh(std::size_t row, std::size_t rows, std::size_t from, std::size_t count,
             const float* values) {
    kernels_.gemm({.a = scores(row) + from,
                   .lda = kKvBlockTokens,
                   .b = values + from * tile_.head_dim,
                   .ldb = tile_.head_dim,
                   .c = output(row),
                   .ldc = tile_.head_dim,
                   .m = rows,
                   .n = tile_.head_dim,
                   .k = count,
                   .mode = GemmMode::kContinue});
  }

  const Kernels& kernels_;
  const QueryTile& tile_;
  AttentionScratch& scratch_;
  const std::size_t rows_;
};

void attend(const Kernels& kernels, const QueryTile& tile, const PagedHead& head,
            AttentionScratch& scratch) {
  const std::size_t length = tile.position + tile.tokens;
  const std::size_t blocks = (length + kKvBlockTokens - 1) / kKvBlockTokens;
  TROUPE_ASSERT(tile.tokens > 0 && tile.tokens <= AttentionScratch::tile_tokens(tile.group),
                "the scratch is sized for a tile");
  TROUPE_ASSERT(blocks <= head.blocks.size(), "the block table covers the queries");
  TileAttention attention(kernels, tile, scratch);
  attention.load_queries();
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::size_t offset = head.blocks[b].value * head.block_stride;
    attention.add_block(b * kKvBlockTokens, head.keys + offset, head.values + offset);
  }
  attention.store_outputs();
}

}  // namespace troupe::cpu
