#include "kernels/cpu/matmul.hpp"

#include <algorithm>
#include <array>

#include "runtime/base/assert.hpp"

namespace troupe::cpu {
namespace {

void multiply_one(const Kernels& kernels, const MatmulInput& input, const Product& product,
                  std::size_t tile) {
  std::array<float, kTileRows> outputs;
  kernels.multiply_tile(*product.matrix, tile, input.x, outputs.data());
  std::copy_n(outputs.data(), product.matrix->rows_of_tile(tile), product.y + tile * kTileRows);
}

void multiply_many(const Kernels& kernels, const MatmulInput& input, const Product& product,
                   std::size_t tile) {
  alignas(64) std::array<float, kDepthBlock * kTileRows> panel;
  const std::size_t columns = product.matrix->columns();
  for (std::size_t k = 0; k < columns; k += kDepthBlock) {
    const std::size_t count = std::min(kDepthBlock, columns - k);
    kernels.expand_tile(*product.matrix, tile, k, count, panel.data());
    kernels.gemm({.a = input.x + k,
                  .lda = input.stride,
                  .b = panel.data(),
                  .ldb = kTileRows,
                  .c = product.y + tile * kTileRows,
                  .ldc = product.stride,
                  .m = input.tokens,
                  .n = product.matrix->rows_of_tile(tile),
                  .k = count,
                  .mode = k == 0 ? GemmMode::kStore : GemmMode::kAdd});
  }
}

}  // namespace

void matmul(const Kernels& kernels, ThreadPool& pool, const MatmulInput& input,
            std::span<const Product> products) {
  if (input.tokens == 0) return;
  std::size_t tiles = 0;
  for (const auto& product : products) {
    TROUPE_ASSERT(product.matrix->columns() == products[0].matrix->columns(), "they share x");
    tiles += product.matrix->tiles();
  }
  const auto multiply = input.tokens == 1 ? multiply_one : multiply_many;
  pool.run(tiles, [&](std::size_t index, std::size_t) {
    const Product* product = products.data();
    while (index >= product->matrix->tiles()) index -= (product++)->matrix->tiles();
    multiply(kernels, input, *product, index);
  });
}

}  // namespace troupe::cpu
