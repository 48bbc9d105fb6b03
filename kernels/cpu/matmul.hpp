// y = W x for a batch of tokens, and several matrices that share x in one fork.
//
// Why its own unit: here is the promise that serving rests on. The result for a token is bit-equal
// whatever other tokens are in the batch and however many threads there are, yet a batch costs much
// less than its tokens one by one: each tile of weights is dequantized once, into a panel in L1,
// and then multiplied with all tokens.
//
// Invariants:
//   1. y[token][output] is the sum over k in blocks of kDepthBlock, as kernels.hpp defines it.
//   2. Work is divided by tiles of outputs, never along k or by token.
//
// Threads: called from one thread; uses the pool. Requires: y and x do not overlap.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/cpu/kernels.hpp"
#include "kernels/cpu/thread_pool.hpp"

namespace troupe::cpu {

/// One matrix and where its outputs go: y[token * stride + output].
struct Product {
  const PackedMatrix* matrix;
  float* y;
  std::size_t stride;
};

/// The batch: x[token * stride + k].
struct MatmulInput {
  const float* x;
  std::size_t stride;
  std::size_t tokens;
};

/// Requires: every matrix has the same number of columns.
void matmul(const Kernels& kernels, ThreadPool& pool, const MatmulInput& input,
            std::span<const Product> products);

}  // namespace troupe::cpu
