#include "kernels/cpu/number_formats.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/kernels/cpu/random_data.hpp"

namespace troupe::cpu::test {
namespace {

/// The definition of IEEE 754 binary16, in double.
double half_by_definition(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const double mantissa = half & 1023;
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) {
    return mantissa == 0 ? sign * INFINITY : std::numeric_limits<double>::quiet_NaN();
  }
  return exponent == 0 ? sign * std::ldexp(mantissa, -24)
                       : sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(NumberFormats, EveryHalfIsExactAndSurvivesARoundTrip) {
  for (std::uint32_t half = 0; half < 65536; ++half) {
    const auto bits = static_cast<std::uint16_t>(half);
    const float value = half_to_float(bits);
    const double expected = half_by_definition(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value))));
    } else {
      ASSERT_EQ(value, expected) << half;
      ASSERT_EQ(float_to_half(value), bits) << half;
    }
  }
}

TEST(NumberFormats, HalvesRoundToNearestEven) {
  EXPECT_EQ(float_to_half(1.0f + 0x1.0p-11f), 0x3c00);      // a tie goes to the even one
  EXPECT_EQ(float_to_half(1.0f + 3 * 0x1.0p-11f), 0x3c02);  // and here up
  EXPECT_EQ(float_to_half(1.0f + 0x1.0p-11f + 0x1.0p-20f), 0x3c01);
  EXPECT_EQ(float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(-1e30f), 0xfc00);
  EXPECT_EQ(float_to_half(0x1.0p-25f), 0x0000);
  EXPECT_EQ(float_to_half(0x1.8p-25f), 0x0001);
}

TEST(NumberFormats, BlocksByHand) {
  std::vector<std::byte> block;
  put16(block, float_to_half(0.5f));
  put16(block, float_to_half(-3.0f));
  for (int i = 0; i < 16; ++i) block.push_back(static_cast<std::byte>(i | (15 - i) << 4));
  std::array<float, 32> out{};
  dequantize_row(WeightType::kQ4_1, block.data(), out);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(out[i], 0.5f * static_cast<float>(i) - 3.0f);
    EXPECT_EQ(out[i + 16], 0.5f * static_cast<float>(15 - i) - 3.0f);
  }
  block.erase(block.begin() + 2, block.begin() + 4);  // without the minimum it is a Q4_0 block
  dequantize_row(WeightType::kQ4_0, block.data(), out);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(out[i], 0.5f * (static_cast<float>(i) - 8.0f));
  }
  block.resize(34, static_cast<std::byte>(-128));
  dequantize_row(WeightType::kQ8_0, block.data(), out);
  EXPECT_EQ(out[31], -64.0f);
}

TEST(NumberFormats, SizesAreThoseOfTheFormat) {
  EXPECT_EQ(stored_row_bytes(WeightType::kF32, 7), 28u);
  EXPECT_EQ(stored_row_bytes(WeightType::kF16, 7), 14u);
  EXPECT_EQ(stored_row_bytes(WeightType::kBF16, 7), 14u);
  EXPECT_EQ(stored_row_bytes(WeightType::kQ8_0, 64), 68u);
  EXPECT_EQ(stored_row_bytes(WeightType::kQ4_0, 64), 36u);
  EXPECT_EQ(stored_row_bytes(WeightType::kQ4_1, 64), 40u);
}

}  // namespace
}  // namespace troupe::cpu::test
