// AVX2 reading of packed tiles: into a panel (expand_tile) or straight into sums (multiply_tile).
//
// One walker a format turns packed weights into fp32 and hands each vector (one k, eight rows) to a
// sink. Both kernels use the same walkers, so a weight is the same number in both, and both see k
// in ascending order: that is what makes batches of one and of many bit-equal.
//
// The 4-bit walker spends one AND on a weight: nibble i is masked in place, which gives q * 16^i;
// multiplied by d * 16^-i that is d * q without a rounding, since powers of two are exact.
#include <immintrin.h>

#include <algorithm>

#include "kernels/cpu/avx2_kernels.hpp"
#include "kernels/cpu/unrolled.hpp"

namespace troupe::cpu::avx2 {
namespace {

constexpr std::size_t kGroups = kTileRows / 8;  // vectors of eight rows in a tile
constexpr std::size_t kScaleBytes = 2 * kTileRows;

__m256 load_halves(const std::byte* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

/// Words of packed nibbles: nibble i of word w is k = 4 * i + w.
template <class Sink>
TROUPE_INLINE inline void walk_nibbles(const std::byte* words, __m256 (&scale)[kGroups],
                                       const __m256 (&minimum)[kGroups], Sink&& sink) {
  __m256i mask = _mm256_set1_epi32(15);
  const auto* vectors = reinterpret_cast<const __m256i*>(words);
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t w = 0; w < 4; ++w) {
      for (std::size_t g = 0; g < kGroups; ++g) {
        const __m256i q = _mm256_and_si256(_mm256_loadu_si256(vectors + w * kGroups + g), mask);
        sink(4 * i + w, g, _mm256_fmadd_ps(_mm256_cvtepi32_ps(q), scale[g], minimum[g]));
      }
    }
    mask = _mm256_slli_epi32(mask, 4);
    for (auto& s : scale) s = _mm256_mul_ps(s, _mm256_set1_ps(0x1.0p-4f));
  }
  // The topmost nibble would come out negative: shift it down and undo 16^-7.
  for (auto& s : scale) s = _mm256_mul_ps(s, _mm256_set1_ps(0x1.0p28f));
  for (std::size_t w = 0; w < 4; ++w) {
    for (std::size_t g = 0; g < kGroups; ++g) {
      const __m256i q = _mm256_srli_epi32(_mm256_loadu_si256(vectors + w * kGroups + g), 28);
      sink(28 + w, g, _mm256_fmadd_ps(_mm256_cvtepi32_ps(q), scale[g], minimum[g]));
    }
  }
}

template <bool kHasMinimum, class Sink>
TROUPE_INLINE inline void walk_q4(const std::byte* group, Sink&& sink) {
  __m256 scale[kGroups];
  __m256 minimum[kGroups];
  for (std::size_t g = 0; g < kGroups; ++g) {
    scale[g] = load_halves(group + 16 * g);
    minimum[g] = kHasMinimum ? load_halves(group + kScaleBytes + 16 * g)
                             : _mm256_mul_ps(scale[g], _mm256_set1_ps(-8.0f));
  }
  walk_nibbles(group + (kHasMinimum ? 2 : 1) * kScaleBytes, scale, minimum, sink);
}

template <class Sink>
TROUPE_INLINE inline void walk_q8(const std::byte* group, Sink&& sink) {
  __m256 scale[kGroups];
  for (std::size_t g = 0; g < kGroups; ++g) scale[g] = load_halves(group + 16 * g);
  const std::byte* numbers = group + kScaleBytes;
  for (std::size_t k = 0; k < kQuantBlock; ++k) {
    for (std::size_t g = 0; g < kGroups; ++g) {
      const auto* bytes = reinterpret_cast<const __m128i*>(numbers + k * kTileRows + 8 * g);
      const __m256i q = _mm256_cvtepi8_epi32(_mm_loadl_epi64(bytes));
      sink(k, g, _mm256_mul_ps(_mm256_cvtepi32_ps(q), scale[g]));
    }
  }
}

template <WeightType kType>
TROUPE_INLINE inline __m256 load_plain(const std::byte* tile, std::size_t index) {
  if constexpr (kType == WeightType::kF32) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(tile) + index);
  } else if constexpr (kType == WeightType::kF16) {
    return load_halves(tile + 2 * index);
  } else {
    const auto* bytes = reinterpret_cast<const __m128i*>(tile + 2 * index);
    const __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128(bytes));
    return _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
  }
}

/// Hands weights of columns [k_begin, k_begin + k_count) to sink(k - k_begin, group, weights).
template <WeightType kType, class Sink>
TROUPE_INLINE inline void walk(const std::byte* tile, std::size_t k_begin, std::size_t k_count,
                               Sink&& sink) {
  if constexpr (is_quantized(kType)) {
    const std::size_t group_bytes = PackedMatrix::group_bytes(kType);
    for (std::size_t k = 0; k < k_count; k += kQuantBlock) {
      const std::byte* group = tile + (k_begin + k) / kQuantBlock * group_bytes;
      const auto shifted = [&](std::size_t i, std::size_t g, __m256 w)
                               TROUPE_INLINE { sink(k + i, g, w); };
      if constexpr (kType == WeightType::kQ8_0) {
        walk_q8(group, shifted);
      } else {
        walk_q4<kType == WeightType::kQ4_1>(group, shifted);
      }
    }
  } else {
    for (std::size_t k = 0; k < k_count; ++k) {
      for (std::size_t g = 0; g < kGroups; ++g) {
        sink(k, g, load_plain<kType>(tile, (k_begin + k) * kTileRows + 8 * g));
      }
    }
  }
}

template <WeightType kType>
void expand(const std::byte* tile, std::size_t k_begin, std::size_t k_count, float* panel) {
  walk<kType>(tile, k_begin, k_count, [&](std::size_t k, std::size_t g, __m256 w) TROUPE_INLINE {
    _mm256_storeu_ps(panel + k * kTileRows + 8 * g, w);
  });
}

template <WeightType kType>
void multiply(const std::byte* tile, std::size_t columns, const float* x, float* y) {
  __m256 total[kGroups];
  for (std::size_t k_begin = 0; k_begin < columns; k_begin += kDepthBlock) {
    __m256 sum[kGroups] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                           _mm256_setzero_ps()};
    const float* xs = x + k_begin;
    walk<kType>(tile, k_begin, std::min(kDepthBlock, columns - k_begin),
                [&](std::size_t k, std::size_t g, __m256 w) TROUPE_INLINE {
                  sum[g] = _mm256_fmadd_ps(_mm256_broadcast_ss(xs + k), w, sum[g]);
                });
    for (std::size_t g = 0; g < kGroups; ++g) {
      total[g] = k_begin == 0 ? sum[g] : _mm256_add_ps(total[g], sum[g]);
    }
  }
  for (std::size_t g = 0; g < kGroups; ++g) _mm256_storeu_ps(y + 8 * g, total[g]);
}

}  // namespace

void expand_tile(const PackedMatrix& matrix, std::size_t tile, std::size_t k_begin,
                 std::size_t k_count, float* panel) {
  const std::byte* bytes = matrix.tile(tile);
  switch (matrix.type()) {
    case WeightType::kF32:
      return expand<WeightType::kF32>(bytes, k_begin, k_count, panel);
    case WeightType::kF16:
      return expand<WeightType::kF16>(bytes, k_begin, k_count, panel);
    case WeightType::kBF16:
      return expand<WeightType::kBF16>(bytes, k_begin, k_count, panel);
    case WeightType::kQ8_0:
      return expand<WeightType::kQ8_0>(bytes, k_begin, k_count, panel);
    case WeightType::kQ4_0:
      return expand<WeightType::kQ4_0>(bytes, k_begin, k_count, panel);
    case WeightType::kQ4_1:
      return expand<WeightType::kQ4_1>(bytes, k_begin, k_count, panel);
  }
}

void multiply_tile(const PackedMatrix& matrix, std::size_t tile, const float* x, float* y) {
  const std::byte* bytes = matrix.tile(tile);
  const std::size_t columns = matrix.columns();
  switch (matrix.type()) {
    case WeightType::kF32:
      return multiply<WeightType::kF32>(bytes, columns, x, y);
    case WeightType::kF16:
      return multiply<WeightType::kF16>(bytes, columns, x, y);
    case WeightType::kBF16:
      return multiply<WeightType::kBF16>(bytes, columns, x, y);
    case WeightType::kQ8_0:
      return multiply<WeightType::kQ8_0>(bytes, columns, x, y);
    case WeightType::kQ4_0:
      return multiply<WeightType::kQ4_0>(bytes, columns, x, y);
    case WeightType::kQ4_1:
      return multiply<WeightType::kQ4_1>(bytes, columns, x, y);
  }
}

}  // namespace troupe::cpu::avx2
