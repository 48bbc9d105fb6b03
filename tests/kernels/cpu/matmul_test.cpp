// Packed tiles, matrix products and the batch driver: every table against double precision, and
// every path of a table against its others bit by bit.
#include "kernels/cpu/matmul.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <tuple>

#include "tests/kernels/cpu/random_data.hpp"

namespace troupe::cpu::test {
namespace {

/// Sums of up to 400 products of numbers below 2: a fp32 rounding of such a sum is about 1e-5.
constexpr double kTolerance = 1e-4;
/// A weight d * q + m below 4 has one or two roundings.
constexpr double kWeightTolerance = 5e-7;

struct Stored {
  Stored(WeightType type_, std::size_t rows_, std::size_t columns_, std::uint64_t seed)
      : type(type_), rows(rows_), columns(columns_) {
    Rng rng(seed);
    bytes = random_stored(rng, type, rows * columns);
    weights.resize(rows * columns);
    for (std::size_t row = 0; row < rows; ++row) {
      dequantize_row(type, bytes.data() + row * stored_row_bytes(type, columns),
                     std::span(weights).subspan(row * columns, columns));
    }
    packed = PackedMatrix::pack(type, bytes, rows, columns);
  }

  WeightType type;
  std::size_t rows;
  std::size_t columns;
  std::vector<std::byte> bytes;
  std::vector<float> weights;  // [row][column], as dequantize_row reads them
  PackedMatrix packed;
};

class Matmul : public ::testing::TestWithParam<std::tuple<const Kernels*, WeightType>> {
 protected:
  const Kernels& kernels() const { return *std::get<0>(GetParam()); }
  WeightType type() const { return std::get<1>(GetParam()); }
  /// Numbers of columns: whole blocks, and for plain types odd ones too.
  std::vector<std::size_t> depths() const {
    if (is_quantized(type())) return {32, 128, 160, 384};
    return {1, 31, 128, 131, 300};
  }
  ThreadPool pool_{1};
};

TEST_P(Matmul, ExpandedTilesHoldTheStoredWeights) {
  for (const std::size_t columns : depths()) {
    const Stored stored(type(), 45, columns, columns);
    ASSERT_EQ(stored.packed.tiles(), 2u);
    EXPECT_EQ(stored.packed.rows_of_tile(1), 13u);
    std::vector<float> panel(columns * kTileRows);
    for (std::size_t tile = 0; tile < 2; ++tile) {
      kernels().expand_tile(stored.packed, tile, 0, columns, panel.data());
      for (std::size_t i = 0; i < panel.size(); ++i) {
        const std::size_t row = tile * kTileRows + i % kTileRows;
        const float expected =
            row < stored.rows ? stored.weights[row * columns + i / kTileRows] : 0.0f;
        ASSERT_NEAR(panel[i], expected, kWeightTolerance) << "row " << row;
      }
    }
  }
}

TEST_P(Matmul, PartsOfATileExpandLikeTheWhole) {
  const Stored stored(type(), 32, 160, 3);
  std::vector<float> whole(160 * kTileRows);
  std::vector<float> part(64 * kTileRows);
  kernels().expand_tile(stored.packed, 0, 0, 160, whole.data());
  kernels().expand_tile(stored.packed, 0, 96, 64, part.data());
  EXPECT_EQ(std::memcmp(part.data(), whole.data() + 96 * kTileRows, part.size() * 4), 0);
}

TEST_P(Matmul, ProductsMatchDoublePrecision) {
  for (const std::size_t columns : depths()) {
    const Stored stored(type(), 45, columns, columns);
    for (const std::size_t tokens : {1, 5}) {
      Rng rng(tokens);
      const auto x = random_floats(rng, tokens * columns);
      std::vector<float> y(tokens * stored.rows, NAN);
      const Product product{&stored.packed, y.data(), stored.rows};
      matmul(kernels(), pool_, {x.data(), columns, tokens}, {&product, 1});
      for (std::size_t i = 0; i < y.size(); ++i) {
        const std::size_t row = i % stored.rows;
        double sum = 0;
        for (std::size_t k = 0; k < columns; ++k) {
          sum += double(stored.weights[row * columns + k]) * x[i / stored.rows * columns + k];
        }
        ASSERT_NEAR(y[i], sum, kTolerance);
      }
    }
  }
}

TEST_P(Matmul, ATokensOutputsAreBitEqualInEveryBatch) {
  const std::size_t columns = is_quantized(type()) ? 384 : 333;
  const Stored stored(type(), 77, columns, 5);
  constexpr std::size_t kTokens = 20;
  Rng rng(8);
  const auto x = random_floats(rng, kTokens * columns);
  std::vector<float> alone(kTokens * stored.rows);
  for (std::size_t t = 0; t < kTokens; ++t) {
    const Product product{&stored.packed, alone.data() + t * stored.rows, stored.rows};
    matmul(kernels(), pool_, {x.data() + t * columns, columns, 1}, {&product, 1});
  }
  for (std::size_t tokens = 1; tokens <= kTokens; ++tokens) {
    std::vector<float> y(tokens * stored.rows, NAN);
    const Product product{&stored.packed, y.data(), stored.rows};
    matmul(kernels(), pool_, {x.data(), columns, tokens}, {&product, 1});
    ASSERT_EQ(std::memcmp(y.data(), alone.data(), y.size() * 4), 0) << tokens << " tokens";
  }
}

std::vector<const Kernels*> tables() {
  return {all_kernels().begin(), all_kernels().end()};
}

INSTANTIATE_TEST_SUITE_P(All, Matmul,
                         ::testing::Combine(::testing::ValuesIn(tables()),
                                            ::testing::ValuesIn(kAllTypes)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)->name) + "_" +
                                  std::string(to_string(std::get<1>(info.param)));
                         });

TEST(MatmulDriver, SeveralMatricesAndThreadsGiveTheSameBits) {
  const Stored first(WeightType::kQ4_1, 100, 256, 1);
  const Stored second(WeightType::kF16, 33, 256, 2);
  Rng rng(3);
  const auto x = random_floats(rng, 9 * 256);
  std::vector<float> expected(9 * 133);
  for (const std::size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::vector<float> y(9 * 133, NAN);
    const Product products[] = {{&first.packed, y.data(), 133},
                                {&second.packed, y.data() + 100, 133}};
    matmul(kernels(), pool, {x.data(), 256, 9}, products);
    if (threads == 1) expected = y;
    EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.size() * 4), 0) << threads << " threads";
  }
}

/// gemm for sizes around every register block, in the three modes.
TEST(GemmKernel, EverySizeAndModeMatchesDoublePrecision) {
  for (const Kernels* table : all_kernels()) {
    for (std::size_t m = 1; m <= 13; ++m) {
      for (const std::size_t n : {1, 7, 8, 9, 16, 20, 31, 32, 45}) {
        for (const auto mode : {GemmMode::kStore, GemmMode::kAdd, GemmMode::kContinue}) {
          Rng rng(m * 100 + n);
          const auto a = random_floats(rng, m * 20);
          const auto b = random_floats(rng, 17 * 50);
          const auto before = random_floats(rng, m * 51);
          auto c = before;
          table->gemm({a.data(), 20, b.data(), 50, c.data(), 51, m, n, 17, mode});
          for (std::size_t i = 0; i < c.size(); ++i) {
            double sum = i % 51 < n && mode == GemmMode::kStore ? 0.0 : before[i];
            for (std::size_t k = 0; k < 17 && i % 51 < n; ++k) {
              sum += double(a[i / 51 * 20 + k]) * b[k * 50 + i % 51];
            }
            ASSERT_NEAR(c[i], sum, 1e-5) << table->name << " m " << m << " n " << n;
          }
        }
      }
    }
  }
}

TEST(GemmKernel, ASumThatIsContinuedEqualsOneThatIsNot) {
  Rng rng(1);
  const auto a = random_floats(rng, 4 * 64);
  const auto b = random_floats(rng, 64 * 24);
  for (const Kernels* table : all_kernels()) {
    std::vector<float> whole(4 * 24);
    std::vector<float> parts(4 * 24);
    table->gemm({a.data(), 64, b.data(), 24, whole.data(), 24, 4, 24, 64, GemmMode::kStore});
    table->gemm({a.data(), 64, b.data(), 24, parts.data(), 24, 4, 24, 41, GemmMode::kStore});
    table->gemm({a.data() + 41, 64, b.data() + 41 * 24, 24, parts.data(), 24, 4, 24, 23,
                 GemmMode::kContinue});
    EXPECT_EQ(whole, parts) << table->name;
  }
}

}  // namespace
}  // namespace troupe::cpu::test
