#include "kernels/cpu/packed_matrix.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "runtime/base/assert.hpp"

namespace troupe::cpu {
namespace {

constexpr std::size_t kScaleBytes = 2 * kTileRows;

/// Puts one stored row of plain numbers into column `row` of the tile's [k][row] array.
void pack_plain_row(const std::byte* stored, std::size_t columns, std::size_t size, std::size_t row,
                    std::byte* tile) {
  for (std::size_t k = 0; k < columns; ++k) {
    std::memcpy(tile + (k * kTileRows + row) * size, stored + k * size, size);
  }
}

void pack_q8_0_block(const std::byte* block, std::size_t row, std::byte* group) {
  std::memcpy(group + 2 * row, block, 2);
  for (std::size_t k = 0; k < kQuantBlock; ++k) {
    group[kScaleBytes + k * kTileRows + row] = block[2 + k];
  }
}

/// The four words of one row: nibble i of word w is the weight of k = 4 * i + w.
void pack_nibbles(const std::byte* nibbles, std::size_t row, std::byte* words) {
  for (std::size_t w = 0; w < 4; ++w) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t k = 4 * i + w;
      const auto byte = std::to_integer<std::uint32_t>(nibbles[k % 16]);
      word |= (k < 16 ? byte & 15u : byte >> 4) << (4 * i);
    }
    std::memcpy(words + (w * kTileRows + row) * 4, &word, 4);
  }
}

void pack_block(WeightType type, const std::byte* block, std::size_t row, std::byte* group) {
  if (type == WeightType::kQ8_0) return pack_q8_0_block(block, row, group);
  std::memcpy(group + 2 * row, block, 2);
  if (type == WeightType::kQ4_0) return pack_nibbles(block + 2, row, group + kScaleBytes);
  std::memcpy(group + kScaleBytes + 2 * row, block + 2, 2);
  pack_nibbles(block + 4, row, group + 2 * kScaleBytes);
}

void pack_row(WeightType type, const std::byte* stored, std::size_t columns, std::size_t row,
              std::byte* tile) {
  if (!is_quantized(type)) {
    return pack_plain_row(stored, columns, stored_row_bytes(type, 1), row, tile);
  }
  const std::size_t block_bytes = stored_block_bytes(type);
  for (std::size_t i = 0; i < columns / kQuantBlock; ++i) {
    pack_block(type, stored + i * block_bytes, row, tile + i * PackedMatrix::group_bytes(type));
  }
}

}  // namespace

PackedMatrix PackedMatrix::pack(WeightType type, std::span<const std::byte> stored,
                                std::size_t rows, std::size_t columns) {
  TROUPE_ASSERT(rows > 0 && columns > 0, "an empty matrix has no tiles");
  const std::size_t row_bytes = stored_row_bytes(type, columns);
  TROUPE_ASSERT(!is_quantized(type) || columns % kQuantBlock == 0, "rows hold whole blocks");
  TROUPE_ASSERT(stored.size() == rows * row_bytes, "the loader checks sizes");
  PackedMatrix packed;
  packed.type_ = type;
  packed.rows_ = rows;
  packed.columns_ = columns;
  packed.tile_bytes_ = kTileRows * row_bytes;
  const std::size_t size = (packed.size_bytes() + 63) / 64 * 64;
  auto* bytes = static_cast<std::byte*>(std::aligned_alloc(64, size));
  if (bytes == nullptr) throw std::bad_alloc();
  packed.bytes_.reset(bytes);
  std::memset(bytes + (packed.tiles() - 1) * packed.tile_bytes_, 0, packed.tile_bytes_);
  for (std::size_t row = 0; row < rows; ++row) {
    pack_row(type, stored.data() + row * row_bytes, columns, row % kTileRows,
             bytes + row / kTileRows * packed.tile_bytes_);
  }
  return packed;
}

}  // namespace troupe::cpu
