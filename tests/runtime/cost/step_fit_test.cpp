// The fit of a real engine's steps, against engines whose constants are known.
#include "runtime/cost/step_fit.hpp"

#include <gtest/gtest.h>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

/// About what SmolLM2-135M takes on two CPU cores.
StepConstants laptop() {
  StepConstants constants;
  constants.prefill_base = 9e-3;
  constants.decode_base = 8e-3;
  constants.shared = 7e-3;
  constants.per_prompt_token = 1.5e-3;
  constants.per_pair = 2e-6;
  constants.per_row = 2.5e-3;
  constants.per_context_token = 1e-6;
  return constants;
}

/// Prompts alone, rows alone, and both, as a batching engine makes them.
EngineStep drawn_step(Rng& rng, const StepConstants& truth, double noise) {
  EngineStep step;
  const bool prompts = rng.chance(0.5);
  if (prompts) {
    const double q = 1 + static_cast<double>(rng.below(500)), c = rng.uniform() * 1'000;
    step.prompt_tokens = static_cast<std::uint64_t>(q);
    step.attention = q * (c + q / 2);
  }
  if (!prompts || rng.chance(0.5)) {
    step.rows = 1 + static_cast<std::uint32_t>(rng.below(8));
    step.context = step.rows * (100 + rng.uniform() * 900);
  }
  step.took = from_seconds(truth.step(step) * (1 + noise * (rng.uniform() * 2 - 1)));
  return step;
}

TEST(StepFit, FindsTheConstantsOfNoisySteps) {
  Rng rng(3);
  StepFit fit;
  for (int i = 0; i < 5'000; ++i) {
    EngineStep step = drawn_step(rng, laptop(), 0.03);
    // Now and then the machine does something else.
    if (rng.chance(0.05)) step.took = step.took * 3;
    fit.add(step);
  }
  const auto found = fit.fit();
  ASSERT_TRUE(found.ok());
  Rng other(4);
  for (int i = 0; i < 200; ++i) {
    const EngineStep step = drawn_step(other, laptop(), 0);
    EXPECT_NEAR(found->step(step) / step.took.seconds(), 1, 0.03) << i;
  }
  EXPECT_NEAR(found->per_prompt_token, 1.5e-3, 5e-5);
  EXPECT_NEAR(found->per_row, 2.5e-3, 1e-4);
  EXPECT_LT(fit.median_error(*found), 0.03);
}

TEST(StepFit, NoConstantIsBelowZero) {
  // Steps that get cheaper with context, as chance may have it.
  Rng rng(5);
  StepFit fit;
  for (int i = 0; i < 500; ++i) {
    EngineStep step = drawn_step(rng, laptop(), 0.02);
    step.took = step.took - from_seconds(std::min(1e-3, step.context * 2e-6));
    fit.add(step);
  }
  const auto found = fit.fit();
  ASSERT_TRUE(found.ok());
  for (const double constant :
       {found->prefill_base, found->decode_base, found->shared, found->per_prompt_token,
        found->per_pair, found->per_row, found->per_context_token}) {
    EXPECT_GE(constant, 0);
  }
}

TEST(StepFit, FewStepsAreNoFitAndEmptyOnesDoNotCount) {
  StepFit fit;
  Rng rng(6);
  for (std::size_t i = 0; i + 1 < StepFit::kSamplesLeast; ++i) {
    fit.add(drawn_step(rng, laptop(), 0));
    fit.add({});
  }
  EXPECT_FALSE(fit.fit().ok());
  fit.add(drawn_step(rng, laptop(), 0));
  EXPECT_TRUE(fit.fit().ok());
  EXPECT_EQ(fit.seen(), StepFit::kSamplesLeast);
}

TEST(StepFit, KeepsAFairChoiceOfALongRun) {
  StepConstants slow = laptop();
  slow.per_row *= 3;
  // A quarter of a long run at one speed, three quarters at a third of it: neither the first nor
  // the last steps alone decide, but the most.
  for (const bool slow_first : {true, false}) {
    StepFit fit;
    Rng rng(7);
    const std::size_t all = 4 * StepFit::kSamplesMost;
    for (std::size_t i = 0; i < all; ++i) {
      const bool first = i < all / 4;
      fit.add(drawn_step(rng, first == slow_first ? slow : laptop(), 0));
    }
    const auto found = fit.fit();
    ASSERT_TRUE(found.ok());
    EXPECT_NEAR(found->per_row / (slow_first ? laptop() : slow).per_row, 1, 0.1) << slow_first;
  }
}

}  // namespace
}  // namespace troupe
