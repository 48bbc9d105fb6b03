// The online fit: finds a hidden curve through noise and outliers, follows drift, keeps its bounds.
#include "runtime/cost/cost_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

PrefillCurve hidden() {
  PrefillCurve curve;
  curve.g = 1e-2;  // 1e-11 s a token²
  return curve;
}

double normal(Rng& rng) {
  const double angle = 2 * 3.14159265358979 * rng.uniform();
  return std::sqrt(-2 * std::log(1 - rng.uniform())) * std::cos(angle);
}

/// What a GPU takes: 2 % noise, and in 2 % of the steps 1.5 to 6 times as long.
Duration noisy(Duration exact, double drift, Rng& rng) {
  double factor = drift * (1 + 0.02 * normal(rng));
  if (rng.chance(0.02)) factor *= 1.5 + 4.5 * rng.uniform();
  return Duration(static_cast<std::int64_t>(static_cast<double>(exact.value) * factor));
}

/// A prompt: mostly short prefixes, some of half a million tokens.
struct Prompt {
  std::uint64_t context;
  std::uint32_t rest;
};
Prompt prompt(Rng& rng) {
  const double prefix = rng.chance(0.3) ? 0 : std::exp(6.9 + 6.2 * rng.uniform());
  return {static_cast<std::uint64_t>(prefix),
          static_cast<std::uint32_t>(std::exp(5.5 + 4.9 * rng.uniform()))};
}

/// Runs steps that are filled to `budget` by what the fit believes; the relative misses of those
/// that the budget limited.
std::vector<double> misses(CostFit& fit, int steps, Duration budget, Rng& rng) {
  std::vector<double> out;
  Prompt next = prompt(rng);
  for (int n = 0; n < steps; ++n) {
    const double drift = n > steps / 2 ? 1.15 : 1.0;
    StepFill fill(fit.curve(), budget, {.tokens = 1u << 20});
    StepSample sample;
    Duration exact(static_cast<std::int64_t>(hidden().a));
    bool limited = false;
    while (!limited) {
      const std::uint32_t chunk = fill.take(next.context, next.rest);
      if (chunk == 0) break;
      sample.add(chunk, next.context);
      exact = exact + hidden().work(chunk, next.context);
      limited = chunk < next.rest;
      next = limited ? Prompt{next.context + chunk, next.rest - chunk} : prompt(rng);
    }
    sample.took = noisy(exact, drift, rng);
    fit.observe(sample);
    const double truth = static_cast<double>(exact.value) * drift;
    if (n >= 500) out.push_back(std::abs(truth / static_cast<double>(budget.value) - 1));
  }
  return out;
}

TEST(CostFit, StepsKeepTheirBudgetThroughNoiseOutliersAndDrift) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const double wrong = seed % 2 == 0 ? 0.5 : 2.0;
    Rng rng(seed);
    PrefillCurve start = hidden();
    start.a *= wrong;
    start.b *= wrong;
    start.g = 0;
    CostFit fit(start);
    auto errors = misses(fit, 4'000, milliseconds(300), rng);
    std::sort(errors.begin(), errors.end());
    EXPECT_LE(errors[errors.size() * 95 / 100], 0.10)
        << "start values wrong by " << wrong << ", seed " << seed;
    EXPECT_LE(errors[errors.size() / 2], 0.02);
    EXPECT_NEAR(fit.deviation(), 0.02, 0.02);
  }
}

TEST(CostFit, CalibrationFindsAllThreeConstants) {
  std::vector<StepSample> sweep;
  for (const std::uint32_t chunk : {512u, 2'048u, 8'192u, 16'384u, 32'768u}) {
    for (const std::uint64_t context : {0u, 65'536u, 500'000u}) {
      StepSample sample;
      sample.add(chunk, context);
      sample.took = hidden().step(chunk, context);
      sweep.push_back(sample);
    }
  }
  CostFit fit(PrefillCurve{.a = 1, .b = 1, .g = 1});
  ASSERT_TRUE(fit.calibrate(sweep).ok());
  EXPECT_NEAR(fit.curve().a / hidden().a, 1, 1e-3);
  EXPECT_NEAR(fit.curve().b / hidden().b, 1, 1e-3);
  EXPECT_NEAR(fit.curve().g / hidden().g, 1, 1e-3);
  const std::vector<StepSample> same(15, sweep.front());
  EXPECT_EQ(fit.calibrate(same).error().code, Code::kInvalid);
  EXPECT_NEAR(fit.curve().b / hidden().b, 1, 1e-3) << "stays as it was";
}

TEST(CostFit, ShortPrefixesDoNotMoveG) {
  CostFit fit(hidden());
  Rng rng(3);
  for (int i = 0; i < 2'000; ++i) {
    StepSample sample;
    sample.add(static_cast<std::uint32_t>(128 + rng.below(4'000)), rng.below(8'000));
    sample.took = noisy(Duration(static_cast<std::int64_t>(50e6)), 1, rng);
    fit.observe(sample);
  }
  EXPECT_DOUBLE_EQ(fit.curve().g, hidden().g);
}

TEST(CostFit, SlowOutliersAreRejectedAndFastStepsAreNot) {
  CostFit fit(hidden());
  StepSample step;
  step.add(8'192, 100'000);
  const Duration exact = hidden().step(8'192, 100'000);
  step.took = exact;
  for (int i = 0; i < 100; ++i) fit.observe(step);
  step.took = exact * 4;
  EXPECT_EQ(fit.observe(step), CostFit::Verdict::kRejected);
  step.took = Duration(exact.value / 4);
  EXPECT_EQ(fit.observe(step), CostFit::Verdict::kClipped);
  step.took = Duration();
  EXPECT_EQ(fit.observe(step), CostFit::Verdict::kIgnored);
  step.attention = std::numeric_limits<double>::quiet_NaN();
  step.took = exact;
  EXPECT_EQ(fit.observe(step), CostFit::Verdict::kIgnored);
}

TEST(CostFit, StaysFiniteOnAnythingAndSavesWhole) {
  CostFit fit(hidden());
  Rng rng(9);
  for (int i = 0; i < 20'000; ++i) {
    StepSample sample;
    sample.add(static_cast<std::uint32_t>(rng.below(1u << 20)), rng.below(1u << 30));
    sample.took = Duration(static_cast<std::int64_t>(rng.next() >> (1 + rng.below(60))));
    fit.observe(sample);
    const PrefillCurve curve = fit.curve();
    for (const double value : {curve.a, curve.b, curve.g, fit.deviation()}) {
      ASSERT_TRUE(std::isfinite(value) && value >= 0) << i;
    }
  }
  const auto loaded = CostFit::load(fit.save(), {});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->save(), fit.save());
  EXPECT_EQ(CostFit::load("prefill-cost 1 2 3", {}).error().code, Code::kCorrupt);
  EXPECT_EQ(CostFit::load("prefill-cost 1 nan 1 1 1", {}).error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace troupe
