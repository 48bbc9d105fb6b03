// The kernels in plain C++: what the others are compared with, and what runs without AVX2.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/cpu/kernels.hpp"
#include "runtime/base/assert.hpp"

namespace troupe::cpu {
namespace {

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

float plain_weight(WeightType type, const std::byte* tile, std::size_t index) {
  switch (type) {
    case WeightType::kF32:
      return load<float>(tile + 4 * index);
    case WeightType::kF16:
      return half_to_float(load<std::uint16_t>(tile + 2 * index));
    default:
      return bfloat_to_float(load<std::uint16_t>(tile + 2 * index));
  }
}

/// One weight of a packed group of 32 columns (packed_matrix.hpp, Layout).
float group_weight(WeightType type, const std::byte* group, std::size_t k, std::size_t row) {
  const float scale = half_to_float(load<std::uint16_t>(group + 2 * row));
  const std::byte* numbers = group + 2 * kTileRows;
  if (type == WeightType::kQ8_0) {
    return scale * static_cast<float>(static_cast<std::int8_t>(numbers[k * kTileRows + row]));
  }
  float minimum = -8.0f * scale;
  if (type == WeightType::kQ4_1) {
    minimum = half_to_float(load<std::uint16_t>(numbers + 2 * row));
    numbers += 2 * kTileRows;
  }
  const auto word = load<std::uint32_t>(numbers + (k % 4 * kTileRows + row) * 4);
  return scale * static_cast<float>((word >> (k / 4 * 4)) & 15u) + minimum;
}

void expand_tile(const PackedMatrix& matrix, std::size_t tile, std::size_t k_begin,
                 std::size_t k_count, float* panel) {
  const std::byte* bytes = matrix.tile(tile);
  const WeightType type = matrix.type();
  for (std::size_t i = 0; i < k_count; ++i) {
    const std::size_t k = k_begin + i;
    for (std::size_t row = 0; row < kTileRows; ++row) {
      panel[i * kTileRows + row] =
          is_quantized(type)
              ? group_weight(type, bytes + k / kQuantBlock * PackedMatrix::group_bytes(type),
                             k % kQuantBlock, row)
              : plain_weight(type, bytes, k * kTileRows + row);
    }
  }
}

void gemm_row(const Gemm& call, std::size_t row) {
  const float* a = call.a + row * call.lda;
  float* c = call.c + row * call.ldc;
  for (std::size_t j = 0; j < call.n; ++j) {
    float sum = call.mode == GemmMode::kContinue ? c[j] : 0.0f;
    for (std::size_t k = 0; k < call.k; ++k) sum = sum + a[k] * call.b[k * call.ldb + j];
    c[j] = call.mode == GemmMode::kAdd ? c[j] + sum : sum;
  }
}

void gemm(const Gemm& call) {
  for (std::size_t row = 0; row < call.m; ++row) gemm_row(call, row);
}

void multiply_tile(const PackedMatrix& matrix, std::size_t tile, const float* x, float* y) {
  std::array<float, kDepthBlock * kTileRows> panel;
  for (std::size_t k = 0; k < matrix.columns(); k += kDepthBlock) {
    const std::size_t count = std::min(kDepthBlock, matrix.columns() - k);
    expand_tile(matrix, tile, k, count, panel.data());
    gemm({.a = x + k,
          .lda = count,
          .b = panel.data(),
          .ldb = kTileRows,
          .c = y,
          .ldc = kTileRows,
          .m = 1,
          .n = kTileRows,
          .k = count,
          .mode = k == 0 ? GemmMode::kStore : GemmMode::kAdd});
  }
}

void rms_norm(const float* x, const float* weight, float epsilon, std::size_t n, float* out) {
  float sum = 0.0f;
  for (std::size_t i = 0; i < n; ++i) sum = sum + x[i] * x[i];
  const float factor = 1.0f / std::sqrt(sum / static_cast<float>(n) + epsilon);
  for (std::size_t i = 0; i < n; ++i) out[i] = x[i] * factor * weight[i];
}

void rotate_pairs(float* x, const float* cosine, const float* sine, std::size_t n) {
  for (std::size_t i = 0; i < n; i += 2) {
    const float even = x[i] * cosine[i] - x[i + 1] * sine[i];
    x[i + 1] = x[i + 1] * cosine[i] + x[i] * sine[i];
    x[i] = even;
  }
}

void silu_multiply(float* gate, const float* up, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) gate[i] = gate[i] / (1.0f + std::exp(-gate[i])) * up[i];
}

float exponentials(float* x, float maximum, std::size_t n) {
  float sum = 0.0f;
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = std::exp(x[i] - maximum);
    sum = sum + x[i];
  }
  return sum;
}

float maximum(const float* x, std::size_t n) {
  float largest = x[0];
  for (std::size_t i = 1; i < n; ++i) largest = std::max(largest, x[i]);
  return largest;
}

void add(float* x, const float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] + y[i];
}

void scale(float* x, float factor, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] * factor;
}

}  // namespace

const Kernels& reference_kernels() {
  static constexpr Kernels table{
      .name = "reference",
      .expand_tile = expand_tile,
      .multiply_tile = multiply_tile,
      .gemm = gemm,
      .rms_norm = rms_norm,
      .rotate_pairs = rotate_pairs,
      .silu_multiply = silu_multiply,
      .exponentials = exponentials,
      .maximum = maximum,
      .add = add,
      .scale = scale,
  };
  return table;
}

}  // namespace troupe::cpu
