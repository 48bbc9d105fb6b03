// Chunks by time: exact inverse, figures of the seeds, and steps that are full but never over.
#include "runtime/cost/prefill_curve.hpp"

#include <gtest/gtest.h>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

TEST(PrefillCurve, MeetsThePublishedRates) {
  const PrefillCurve curve;
  const auto rate = [&](std::uint32_t chunk) { return chunk / curve.step(chunk, 0).seconds(); };
  EXPECT_NEAR(rate(65'536), 89'500, 10) << "seed 004, 65,536-token chunks";
  EXPECT_NEAR(rate(65'536) / rate(32'768), 1.03, 0.005);
  EXPECT_NEAR(curve.b * 2'027, curve.a, curve.a * 0.001) << "half-rate chunk of CALIB.md";
}

TEST(PrefillCurve, LargestChunkIsExactForAnyConstants) {
  Rng rng(5);
  for (int round = 0; round < 20'000; ++round) {
    PrefillCurve curve;
    curve.b = 1 + rng.uniform() * 30'000;
    curve.g = rng.chance(0.3) ? 0 : rng.uniform() * 1e-2;
    const std::uint64_t context = rng.below(1'000'000);
    const Duration left(static_cast<std::int64_t>(rng.below(800'000'000)));
    const std::uint32_t chunk = largest_chunk(curve, left, context);
    ASSERT_LE(curve.work(chunk, context), left);
    ASSERT_GT(curve.work(chunk + 1, context), left) << curve.b << ' ' << curve.g << ' ' << context;
  }
}

TEST(PrefillCurve, NoTimeIsNoToken) {
  EXPECT_EQ(largest_chunk({}, Duration(), 0), 0u);
  EXPECT_EQ(largest_chunk({}, milliseconds(-3), 0), 0u);
  EXPECT_EQ(largest_chunk({}, nanoseconds(1), 1u << 20), 0u);
}

TEST(StepFill, FillsTheBudgetAndNeverMore) {
  Rng rng(6);
  for (int round = 0; round < 3'000; ++round) {
    PrefillCurve curve;
    curve.g = rng.uniform() * 1e-2;  // up to 1e-11 s a token²
    const Duration budget = milliseconds(static_cast<std::int64_t>(30 + rng.below(500)));
    StepFill fill(curve, budget);
    while (true) {
      const std::uint64_t context = rng.below(300'000);
      const auto rest = static_cast<std::uint32_t>(1 + rng.below(20'000));
      const std::uint32_t chunk = fill.take(context, rest);
      ASSERT_LE(chunk, rest);
      ASSERT_TRUE(chunk == rest || chunk % 128 == 0) << chunk;
      if (chunk < rest) break;
    }
    ASSERT_LE(fill.tokens(), 32'768u);
    ASSERT_TRUE(fill.time() <= budget || fill.tokens() <= 128);
  }
}

TEST(StepFill, ALongPrefixGetsAGranuleOfAnEmptyStep) {
  PrefillCurve curve;
  curve.g = 1e-2;
  StepFill fill(curve, milliseconds(22));
  EXPECT_EQ(fill.take(1'000'000, 50'000), 128u);
  EXPECT_EQ(fill.take(0, 10), 0u) << "the step is over its time";
  StepFill last(curve, milliseconds(22));
  EXPECT_EQ(last.take(1'000'000, 5), 5u);
}

TEST(StepFill, SharesAStepInOrder) {
  const PrefillCurve curve;
  StepFill fill(curve, curve.step(8'192, 0));
  EXPECT_EQ(fill.take(0, 100), 100u);
  EXPECT_EQ(fill.take(77'000, 90'000), 8'064u) << "whole granules of what is left";
  EXPECT_EQ(fill.take(0, 200), 0u);
  EXPECT_EQ(fill.take(0, 20), 20u);
}

}  // namespace
}  // namespace troupe
