// AVX2 versions of the element-wise kernels: norm, rotation, softmax, SiLU.
//
// Sums use eight lanes and a fixed tree at the end, so they depend on n alone. A tail shorter than
// eight goes through the same instructions with a mask: lane i of a tail computes what lane i of a
// full vector would.
#include <immintrin.h>

#include "kernels/cpu/avx2_kernels.hpp"
#include "kernels/cpu/avx2_mask.hpp"

namespace troupe::cpu::avx2 {
namespace {

float sum_lanes(__m256 v) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/// exp(x) within 2 units in the last place for x in [-87.3, 88.3]; below that 0, above that the
/// value at 88.3 (just under the largest float). NaN stays NaN.
///
/// x = n ln 2 + r with |r| <= ln 2 / 2; e^r is its Taylor sum to r^7, whose next term is under
/// 6e-9; 2^n is added to the exponent bits. ln 2 is split so that n times its high part is exact.
__m256 exponential(__m256 x) {
  const __m256 low = _mm256_set1_ps(-87.3f);
  const __m256 clamped = _mm256_max_ps(low, _mm256_min_ps(_mm256_set1_ps(88.3f), x));
  const __m256 n = _mm256_round_ps(_mm256_mul_ps(clamped, _mm256_set1_ps(1.44269504f)),
                                   _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0x1.62e4p-1f), clamped);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0x1.7f7d1cf8p-20f), r);
  __m256 sum = _mm256_set1_ps(1.0f / 5040);
  for (const float factor : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) {
    sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(factor));
  }
  const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
  const __m256 power = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(sum), exponent));
  return _mm256_andnot_ps(_mm256_cmp_ps(x, low, _CMP_LT_OQ), power);
}

__m256 silu(__m256 x) {
  const __m256 one = _mm256_set1_ps(1.0f);
  const __m256 negated = _mm256_sub_ps(_mm256_setzero_ps(), x);
  return _mm256_div_ps(x, _mm256_add_ps(one, exponential(negated)));
}

}  // namespace

void rms_norm(const float* x, const float* weight, float epsilon, std::size_t n, float* out) {
  __m256 squares = _mm256_setzero_ps();
  for_each_eight(n, [&](std::size_t i, auto lanes) {
    const __m256 v = lanes.load(x + i);
    squares = _mm256_fmadd_ps(v, v, squares);
  });
  const __m128 mean = _mm_set_ss(sum_lanes(squares) / static_cast<float>(n) + epsilon);
  const float root = _mm_cvtss_f32(_mm_sqrt_ss(mean));
  const __m256 factor = _mm256_set1_ps(1.0f / root);
  for_each_eight(n, [&](std::size_t i, auto lanes) {
    const __m256 v = _mm256_mul_ps(lanes.load(x + i), factor);
    lanes.store(out + i, _mm256_mul_ps(v, lanes.load(weight + i)));
  });
}

void rotate_pairs(float* x, const float* cosine, const float* sine, std::size_t n) {
  for_each_eight(n, [&](std::size_t i, auto lanes) {
    const __m256 v = lanes.load(x + i);
    const __m256 swapped = _mm256_permute_ps(v, 0xb1);  // (x1, x0, x3, x2, ...)
    const __m256 cross = _mm256_mul_ps(swapped, lanes.load(sine + i));
    lanes.store(x + i, _mm256_fmaddsub_ps(v, lanes.load(cosine + i), cross));
  });
}

void silu_multiply(float* gate, const float* up, std::size_t n) {
  for_each_eight(n, [&](std::size_t i, auto lanes) {
    lanes.store(gate + i, _mm256_mul_ps(silu(lanes.load(gate + i)), lanes.load(up + i)));
  });
}

float exponentials(float* x, float maximum, std::size_t n) {
  const __m256 largest = _mm256_set1_ps(maximum);
  __m256 sum = _mm256_setzero_ps();
  for_each_eight(n, [&](std::size_t i, auto lanes) {
    const __m256 powers = exponential(_mm256_sub_ps(lanes.load(x + i), largest));
    lanes.store(x + i, powers);
    sum = _mm256_add_ps(sum, lanes.only(powers));
  });
  return sum_lanes(sum);
}

float maximum(const float* x, std::size_t n) {
  __m256 largest = _mm256_set1_ps(x[0]);
  for_each_eight(n, [&](std::size_t i, auto lanes) {
    largest = _mm256_max_ps(largest, lanes.load_or(x + i, x[0]));
  });
  __m128 four = _mm_max_ps(_mm256_castps256_ps128(largest), _mm256_extractf128_ps(largest, 1));
  four = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}

void add(float* x, const float* y, std::size_t n) {
  for_each_eight(n, [&](std::size_t i, auto lanes) {
    lanes.store(x + i, _mm256_add_ps(lanes.load(x + i), lanes.load(y + i)));
  });
}

void scale(float* x, float factor, std::size_t n) {
  const __m256 factors = _mm256_set1_ps(factor);
  for_each_eight(n, [&](std::size_t i, auto lanes) {
    lanes.store(x + i, _mm256_mul_ps(lanes.load(x + i), factors));
  });
}

}  // namespace troupe::cpu::avx2
