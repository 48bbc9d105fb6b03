// Eight lanes at a time, the last time fewer: loads and stores with and without a mask.
//
// Only for the avx2_*.cpp files. for_each_eight(n, f) calls f(i, lanes) for i = 0, 8, ...; `lanes`
// loads and stores eight floats, or with a mask the n - i that are left, the other lanes being 0.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace troupe::cpu::avx2 {
namespace {  // every file compiles its own copy with its own flags

struct FullLanes {
  __m256 load(const float* p) const { return _mm256_loadu_ps(p); }
  __m256 load_or(const float* p, float) const { return load(p); }
  void store(float* p, __m256 v) const { _mm256_storeu_ps(p, v); }
  __m256 only(__m256 v) const { return v; }
};

struct MaskedLanes {
  __m256i mask;
  __m256 load(const float* p) const { return _mm256_maskload_ps(p, mask); }
  /// The lanes that are not there hold `other`.
  __m256 load_or(const float* p, float other) const {
    return _mm256_blendv_ps(_mm256_set1_ps(other), load(p), _mm256_castsi256_ps(mask));
  }
  void store(float* p, __m256 v) const { _mm256_maskstore_ps(p, mask, v); }
  /// Zero in the lanes that are not there.
  __m256 only(__m256 v) const { return _mm256_and_ps(v, _mm256_castsi256_ps(mask)); }
};

/// Requires: 0 < count < 8.
inline MaskedLanes first_lanes(std::size_t count) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return {_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<std::int32_t>(count)), lane)};
}

template <class F>
inline void for_each_eight(std::size_t n, F&& f) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) f(i, FullLanes{});
  if (i < n) f(i, first_lanes(n - i));
}

}  // namespace
}  // namespace troupe::cpu::avx2
