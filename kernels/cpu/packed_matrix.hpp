// A weight matrix in the order in which the kernels read it.
//
// Why: y = W x is computed with one output in each vector lane, so that every output is a plain sum
// over k in ascending order, whatever the batch size, the vector width or the thread count is. For
// that the weights of 32 outputs must lie side by side. The numbers are the stored ones, still
// quantized: packing permutes bits and never rounds.
//
// Layout: rows (outputs) are grouped in tiles of kTileRows, the last one padded with zero weights;
// columns (k) in groups of 32; a tile's groups follow each other. Within a group:
//   F32, F16, BF16   [k][row]; the last group ends with the last column
//   Q8_0             fp16 d[row], then int8 q[k][row]
//   Q4_0             fp16 d[row], then words
//   Q4_1             fp16 d[row], fp16 m[row], then words
// where words are u32 word[4][row], and nibble i of word[w] is the weight of k = 4 * i + w: one
// mask then takes one k out of 8 rows at a time.
//
// Invariants:
//   1. tile(t) has the same size for every t, a multiple of 64 bytes, and starts 64-byte aligned.
//   2. Unpadded weights equal dequantize_row() of the source, bit by bit.
//
// Threads: immutable after pack(). Ownership: holds its own copy of the weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "kernels/cpu/number_formats.hpp"

namespace troupe::cpu {

inline constexpr std::size_t kTileRows = 32;

class PackedMatrix {
 public:
  /// Packs `rows` stored rows of `columns` weights.
  /// Requires: stored.size() == rows * stored_row_bytes(type, columns); rows, columns > 0.
  static PackedMatrix pack(WeightType type, std::span<const std::byte> stored, std::size_t rows,
                           std::size_t columns);

  PackedMatrix() = default;

  WeightType type() const { return type_; }
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::size_t tiles() const { return (rows_ + kTileRows - 1) / kTileRows; }
  std::size_t size_bytes() const { return tiles() * tile_bytes_; }
  /// Rows of this tile that are outputs, not padding.
  std::size_t rows_of_tile(std::size_t tile) const {
    return tile + 1 < tiles() ? kTileRows : rows_ - tile * kTileRows;
  }
  const std::byte* tile(std::size_t index) const { return bytes_.get() + index * tile_bytes_; }

  /// Bytes of a full group of 32 columns of one tile.
  static constexpr std::size_t group_bytes(WeightType type) {
    return kTileRows * stored_block_bytes(type);
  }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };

  WeightType type_ = WeightType::kF32;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::size_t tile_bytes_ = 0;
  std::unique_ptr<std::byte[], Free> bytes_;
};

}  // namespace troupe::cpu
