// The element-wise kernels of every table against double precision, at sizes around the vector
// width.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/kernels.hpp"
#include "tests/kernels/cpu/random_data.hpp"

namespace troupe::cpu::test {
namespace {

constexpr std::size_t kSizes[] = {1, 2, 7, 8, 9, 20, 64, 101};
constexpr double kRelative = 1e-6;  // about eight roundings

class VectorKernels : public ::testing::TestWithParam<const Kernels*> {
 protected:
  const Kernels& table() const { return *GetParam(); }
  std::vector<float> numbers(std::size_t n, double magnitude) {
    return random_floats(rng_, n, magnitude);
  }
  Rng rng_{42};
};

void expect_near(double value, double expected) {
  ASSERT_NEAR(value, expected, kRelative * std::max(1e-30, std::abs(expected)));
}

TEST_P(VectorKernels, RmsNorm) {
  for (const std::size_t n : kSizes) {
    auto x = numbers(n, 3);
    const auto weight = numbers(n, 2);
    double sum = 0;
    for (const float v : x) sum += double(v) * v;
    const double root = std::sqrt(sum / double(n) + 1e-5);
    std::vector<float> out(n);
    table().rms_norm(x.data(), weight.data(), 1e-5f, n, out.data());
    for (std::size_t i = 0; i < n; ++i) expect_near(out[i], x[i] / root * weight[i]);
    table().rms_norm(x.data(), weight.data(), 1e-5f, n, x.data());
    EXPECT_EQ(x, out) << "in place";
  }
}

TEST_P(VectorKernels, RotatePairs) {
  for (const std::size_t n : {2, 6, 8, 10, 64, 102}) {
    auto x = numbers(n, 3);
    const auto before = x;
    std::vector<float> cosine(n);
    std::vector<float> sine(n);
    for (std::size_t i = 0; i < n; ++i) {
      cosine[i] = std::cos(static_cast<float>(i / 2));
      sine[i] = std::sin(static_cast<float>(i / 2));
    }
    table().rotate_pairs(x.data(), cosine.data(), sine.data(), n);
    for (std::size_t i = 0; i < n; i += 2) {
      const double c = cosine[i];
      const double s = sine[i];
      ASSERT_NEAR(x[i], before[i] * c - before[i + 1] * s, 2e-6);
      ASSERT_NEAR(x[i + 1], before[i + 1] * c + before[i] * s, 2e-6);
    }
  }
}

TEST_P(VectorKernels, SiluMultiply) {
  for (const std::size_t n : kSizes) {
    auto gate = numbers(n, 20);
    const auto up = numbers(n, 2);
    const auto before = gate;
    table().silu_multiply(gate.data(), up.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      expect_near(gate[i], before[i] / (1 + std::exp(-double(before[i]))) * up[i]);
    }
  }
}

TEST_P(VectorKernels, SiluSaturates) {
  float gate[] = {-1000.0f, 1000.0f, -88.0f, 0.0f};
  const float up[] = {1.0f, 1.0f, 1.0f, 1.0f};
  table().silu_multiply(gate, up, 4);
  EXPECT_NEAR(gate[0], 0.0f, 1e-30);
  EXPECT_EQ(gate[1], 1000.0f);
  EXPECT_NEAR(gate[2], 0.0f, 1e-30);
  EXPECT_EQ(gate[3], 0.0f);
}

TEST_P(VectorKernels, Exponentials) {
  for (const std::size_t n : kSizes) {
    auto x = numbers(n, 40);
    const auto before = x;
    const float maximum = *std::max_element(x.begin(), x.end());
    EXPECT_EQ(table().maximum(x.data(), n), maximum);
    const float sum = table().exponentials(x.data(), maximum, n);
    double expected_sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      // The difference is rounded to fp32 before it is exponentiated: that is not the kernel's
      // error.
      const double expected = std::exp(double(before[i] - maximum));
      expect_near(x[i], expected);
      expected_sum += expected;
    }
    expect_near(sum, expected_sum);
  }
}

TEST_P(VectorKernels, ExponentialsOfExtremes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float x[] = {0.0f, -kInfinity, -200.0f, -80.0f};
  EXPECT_EQ(table().exponentials(x, 0.0f, 4), 1.0f);
  EXPECT_EQ(x[0], 1.0f);
  EXPECT_EQ(x[1], 0.0f);
  EXPECT_EQ(x[2], 0.0f);
  EXPECT_NEAR(x[3] / std::exp(-80.0), 1.0, 1e-6);
  float nan[] = {std::numeric_limits<float>::quiet_NaN()};
  EXPECT_TRUE(std::isnan(table().exponentials(nan, 0.0f, 1)));
}

TEST_P(VectorKernels, AddAndScaleTouchOnlyTheirElements) {
  for (const std::size_t n : kSizes) {
    auto x = numbers(n + 3, 1);
    const auto y = numbers(n + 3, 1);
    const auto before = x;
    table().add(x.data(), y.data(), n);
    for (std::size_t i = 0; i < n + 3; ++i) {
      ASSERT_EQ(x[i], i < n ? before[i] + y[i] : before[i]);
    }
    const auto added = x;
    table().scale(x.data(), 0.3f, n);
    for (std::size_t i = 0; i < n + 3; ++i) ASSERT_EQ(x[i], i < n ? added[i] * 0.3f : added[i]);
  }
}

std::vector<const Kernels*> kernel_tables() {
  return {all_kernels().begin(), all_kernels().end()};
}

INSTANTIATE_TEST_SUITE_P(All, VectorKernels, ::testing::ValuesIn(kernel_tables()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace troupe::cpu::test
