// AVX2 + FMA matrix product in register blocks: up to 6 rows x 16 columns, or 3 rows x 32.
//
// Twelve accumulators hide the latency of FMA (4 cycles, 2 a cycle) and leave registers for the
// operands. Each accumulator lane is one element of c and sees k in ascending order, so an element
// is the same number in every block shape.
#include <immintrin.h>

#include <algorithm>
#include <array>

#include "kernels/cpu/avx2_kernels.hpp"
#include "kernels/cpu/avx2_mask.hpp"
#include "kernels/cpu/unrolled.hpp"

namespace troupe::cpu::avx2 {
namespace {

constexpr std::size_t kMaxRows = 6;

/// kRows x (8 * kVectors) elements at a, b, c. `lanes` is FullLanes, or a mask with kVectors == 1.
template <std::size_t kRows, std::size_t kVectors, class Lanes>
void block(const Gemm& g, const float* a, const float* b, float* c, Lanes lanes) {
  __m256 sum[kRows][kVectors];
  const auto for_each_sum = [](auto&& f) TROUPE_INLINE {
    unrolled<kRows>(
        [&](auto r) TROUPE_INLINE { unrolled<kVectors>([&](auto v) TROUPE_INLINE { f(r, v); }); });
  };
  const bool continues = g.mode == GemmMode::kContinue;
  for_each_sum([&](auto r, auto v) TROUPE_INLINE {
    sum[r][v] = continues ? lanes.load(c + r * g.ldc + 8 * v) : _mm256_setzero_ps();
  });
  const std::size_t lda = g.lda;
  const std::size_t ldb = g.ldb;
  for (const float* const end = a + g.k; a != end; ++a, b += ldb) {
    __m256 columns[kVectors];
    unrolled<kVectors>([&](auto v) TROUPE_INLINE { columns[v] = lanes.load(b + 8 * v); });
    unrolled<kRows>([&](auto r) TROUPE_INLINE {
      const __m256 row = _mm256_broadcast_ss(a + r * lda);
      unrolled<kVectors>(
          [&](auto v) TROUPE_INLINE { sum[r][v] = _mm256_fmadd_ps(row, columns[v], sum[r][v]); });
    });
  }
  const bool adds = g.mode == GemmMode::kAdd;
  for_each_sum([&](auto r, auto v) TROUPE_INLINE {
    float* target = c + r * g.ldc + 8 * v;
    lanes.store(target, adds ? _mm256_add_ps(lanes.load(target), sum[r][v]) : sum[r][v]);
  });
}

/// All columns of kRows rows.
template <std::size_t kRows>
void row_block(const Gemm& g, const float* a, float* c) {
  constexpr std::size_t kWide = kRows <= 3 ? 4 : 2;
  std::size_t j = 0;
  for (; j + 8 * kWide <= g.n; j += 8 * kWide) {
    block<kRows, kWide>(g, a, g.b + j, c + j, FullLanes{});
  }
  for (; j + 8 <= g.n; j += 8) block<kRows, 1>(g, a, g.b + j, c + j, FullLanes{});
  if (j < g.n) block<kRows, 1>(g, a, g.b + j, c + j, first_lanes(g.n - j));
}

using RowBlock = void (*)(const Gemm&, const float*, float*);
constexpr std::array<RowBlock, kMaxRows> kRowBlocks{row_block<1>, row_block<2>, row_block<3>,
                                                    row_block<4>, row_block<5>, row_block<6>};

}  // namespace

void gemm(const Gemm& call) {
  std::size_t row = 0;
  // Even shares: 8 rows are 4 + 4, not 6 + 2.
  for (std::size_t blocks = (call.m + kMaxRows - 1) / kMaxRows; blocks > 0; --blocks) {
    const std::size_t rows = (call.m - row + blocks - 1) / blocks;
    kRowBlocks[rows - 1](call, call.a + row * call.lda, call.c + row * call.ldc);
    row += rows;
  }
}

}  // namespace troupe::cpu::avx2
