// Number formats of stored weights, and how one stored row becomes fp32.
//
// Why: the kernels read weights in a packed layout (packed_matrix.hpp). This is the plain reading
// of the layout on disk, the one truth that packing, the embedding lookup and the tests compare
// with.
//
// Formats (a block is 32 weights, little-endian; d and m are fp16):
//   kF32, kF16, kBF16   one number a weight
//   kQ8_0   d, 32 signed bytes q           weight = d * q
//   kQ4_0   d, 16 bytes of nibbles q       weight = d * (q - 8)
//   kQ4_1   d, m, 16 bytes of nibbles q    weight = d * q + m
// In both 4-bit formats byte j holds weight j in its low nibble and weight j + 16 in its high one.
// Source: the GGUF quantization formats of the ggml project.
//
// Threads: pure functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace troupe::cpu {

enum class WeightType : std::uint8_t { kF32, kF16, kBF16, kQ8_0, kQ4_0, kQ4_1 };

inline constexpr std::size_t kQuantBlock = 32;  ///< weights that share one scale

std::string_view to_string(WeightType type);

/// Whether rows are made of whole blocks of kQuantBlock weights.
constexpr bool is_quantized(WeightType type) {
  return type == WeightType::kQ8_0 || type == WeightType::kQ4_0 || type == WeightType::kQ4_1;
}

/// Bytes that store kQuantBlock weights.
constexpr std::size_t stored_block_bytes(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return 4 * kQuantBlock;
    case WeightType::kF16:
    case WeightType::kBF16:
      return 2 * kQuantBlock;
    case WeightType::kQ8_0:
      return 2 + kQuantBlock;
    case WeightType::kQ4_0:
      return 2 + kQuantBlock / 2;
    case WeightType::kQ4_1:
      return 4 + kQuantBlock / 2;
  }
  return 0;
}

/// Bytes of a row as stored. Requires: columns is a multiple of kQuantBlock for quantized types.
constexpr std::size_t stored_row_bytes(WeightType type, std::size_t columns) {
  return columns * stored_block_bytes(type) / kQuantBlock;
}

/// Exact, also for subnormals, infinities and NaN.
float half_to_float(std::uint16_t half);
/// Rounds to nearest, ties to even.
std::uint16_t float_to_half(float value);
inline float bfloat_to_float(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

/// Reads one stored row into out, whose size is the number of columns.
/// Requires: stored holds stored_row_bytes(type, out.size()) bytes, at any alignment.
void dequantize_row(WeightType type, const std::byte* stored, std::span<float> out);

}  // namespace troupe::cpu
