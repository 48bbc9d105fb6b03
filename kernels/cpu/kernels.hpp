// The table of CPU kernels: one plain C++ version of each, one for AVX2 + FMA + F16C.
//
// Why a table: the processor is known only at run time, and tests compare the versions with each
// other. Everything above (matmul.hpp, attention.hpp, the models) calls through one `Kernels`, so a
// new instruction set is one new table.
//
// Invariants of every version, on which batch invariance rests:
//   1. An output element depends only on its own inputs, never on m, n or the other rows of a call.
//   2. Sums over k (gemm, multiply_tile) run in ascending k, one accumulator an element.
//   3. multiply_tile gives bit for bit what expand_tile and gemm give in blocks of kDepthBlock.
// Versions differ from each other by rounding only (the AVX2 one fuses product and sum).
//
// Threads: all functions are pure in their arguments. Pointers need no alignment beyond their
// type's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/cpu/packed_matrix.hpp"

namespace troupe::cpu {

/// Long sums over k are made of blocks of this many terms, each summed from zero, then added in
/// order: half the rounding error of one long chain, and a panel of 128 x 32 floats stays in L1.
inline constexpr std::size_t kDepthBlock = 128;

/// What gemm does with the elements of c.
enum class GemmMode : std::uint8_t {
  kStore,     ///< c = sum
  kAdd,       ///< c = c + sum
  kContinue,  ///< the sum starts from c
};

/// c[m][n] = or += a[m][k] * b[k][n], all row-major, rows `lda`, `ldb`, `ldc` floats apart.
struct Gemm {
  const float* a;
  std::size_t lda;
  const float* b;
  std::size_t ldb;
  float* c;
  std::size_t ldc;
  std::size_t m;
  std::size_t n;
  std::size_t k;
  GemmMode mode;
};

struct Kernels {
  std::string_view name;

  /// panel[k][kTileRows] = the weights of columns [k_begin, k_begin + k_count) of a tile.
  /// Requires: k_begin is a multiple of kQuantBlock; for quantized types k_count is one too.
  void (*expand_tile)(const PackedMatrix& matrix, std::size_t tile, std::size_t k_begin,
                      std::size_t k_count, float* panel);
  /// y[kTileRows] = tile * x, without a panel in between: the fast path of a batch of one.
  void (*multiply_tile)(const PackedMatrix& matrix, std::size_t tile, const float* x, float* y);
  void (*gemm)(const Gemm& call);

  /// out = x / sqrt(mean(x^2) + epsilon) * weight. out may be x.
  void (*rms_norm)(const float* x, const float* weight, float epsilon, std::size_t n, float* out);
  /// Rotates adjacent pairs (x[2i], x[2i+1]) in place by the angles whose cosines and sines are
  /// given twice each: cosine[2i] == cosine[2i+1]. Requires: n is even.
  void (*rotate_pairs)(float* x, const float* cosine, const float* sine, std::size_t n);
  /// gate = silu(gate) * up.
  void (*silu_multiply)(float* gate, const float* up, std::size_t n);
  /// x = exp(x - maximum), returns the sum. x - maximum is at most 0; -infinity gives 0.
  float (*exponentials)(float* x, float maximum, std::size_t n);
  /// The largest of x. Requires: n > 0.
  float (*maximum)(const float* x, std::size_t n);
  void (*add)(float* x, const float* y, std::size_t n);
  void (*scale)(float* x, float factor, std::size_t n);
};

/// Plain C++: runs everywhere.
const Kernels& reference_kernels();

/// The table for AVX2, FMA and F16C, or null where the processor or the build has none.
const Kernels* avx2_kernels();

/// The fastest table that runs here, chosen once; the environment variable
/// TROUPE_KERNELS=reference forces the plain one.
const Kernels& kernels();

/// Every table that runs here, for tests: the reference first.
std::span<const Kernels* const> all_kernels();

}  // namespace troupe::cpu
