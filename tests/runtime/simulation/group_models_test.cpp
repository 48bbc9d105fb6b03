// Simulated groups: times by hand, the barrier, and rows that end where their script says.
#include "runtime/simulation/group_models.hpp"

#include <gtest/gtest.h>

#include "runtime/simulation/cost_model.hpp"

namespace troupe {
namespace {

SimulatedWork answer_of(std::uint32_t tokens) {
  SimulatedWork work;
  work.output = tokens;
  return work;
}

StepPlan plan_of(GroupPlan group) {
  StepPlan plan;
  plan.group = std::make_shared<const GroupPlan>(std::move(group));
  return plan;
}

TEST(PrefillGroup, LastsAsLongAsItsSlowestMember) {
  PrefillGroup group(std::make_shared<CostModel>(), 2);
  GroupPlan plan;
  plan.chunks = {{0, RequestId(1), 0, 1'000, false, answer_of(5)},
                 {0, RequestId(2), 0, 1'000, true, answer_of(5)},
                 {1, RequestId(3), 512, 512, true, answer_of(1)}};
  const auto outcome = group.forward(plan_of(plan), Time());
  ASSERT_TRUE(outcome.result.ok());
  const GroupResult& result = *outcome.result->group.result;
  EXPECT_NEAR(result.own[0].milliseconds(), 21.97 + 2'000 * 0.010838, 1e-6);
  EXPECT_NEAR(result.own[1].milliseconds(), 21.97 + 512 * 0.010838, 1e-6);
  EXPECT_EQ(outcome.takes, result.own[0]);
  ASSERT_EQ(result.ended.size(), 1u) << "one answer is a single token";
  EXPECT_EQ(result.ended[0].request, RequestId(3));
}

TEST(EncoderGpu, TakesATimeForEachImageAndOneForEachPatch) {
  EncoderGpu gpu(std::make_shared<CostModel>(), 0.002, 1e-6);
  GroupPlan plan;
  plan.chunks.resize(2);
  plan.chunks[0].tokens = 1'000;
  plan.chunks[1].tokens = 500;
  const auto outcome = gpu.forward(plan_of(plan), Time());
  ASSERT_TRUE(outcome.result.ok());
  EXPECT_NEAR(outcome.takes.milliseconds(), 2 * 2 + 1.5, 1e-6);
  EXPECT_EQ(outcome.result->group.result->tokens, 1'500);
  gpu.set_pace(2);
  EXPECT_NEAR(gpu.forward(plan_of(plan), Time()).takes.milliseconds(), 11, 1e-6);
}

struct Decode {
  explicit Decode(DecodeGroupOptions options, std::uint32_t members = 2)
      : group(std::make_shared<CostModel>(), members, options), members(members) {}
  GroupResult step(GroupPlan plan, float drafts) {
    plan.drafts.assign(members, drafts);
    const auto outcome = group.forward(plan_of(std::move(plan)), Time());
    takes = outcome.takes;
    return *outcome.result->group.result;
  }
  DecodeGroup group;
  std::uint32_t members;
  Duration takes;
};

TEST(DecodeGroup, AStepCostsByTheFormula) {
  DecodeGroupOptions options;
  options.rule = DraftRule::kFixed;
  Decode decode(options);
  GroupPlan plan;
  for (std::uint64_t i = 0; i < 64; ++i) {
    plan.enters.push_back({0, RequestId(i + 1), 131'072, 0, answer_of(1'000'000)});
  }
  const GroupResult result = decode.step(plan, 5);
  // CALIB.md, Model table: 13.39 ms at 64 rows with five drafts.
  EXPECT_NEAR(result.own[0].milliseconds(), 13.39, 0.01);
  EXPECT_EQ(result.own[1], Duration());
  EXPECT_EQ(decode.takes, result.own[0]);
  EXPECT_NEAR(result.tokens, 64 * 3.30, 1);
}

TEST(DecodeGroup, WithoutDraftsEachStepIsAToken) {
  DecodeGroupOptions options;
  options.rule = DraftRule::kOff;
  Decode decode(options);
  GroupPlan first;
  first.enters = {{0, RequestId(1), 100, 1, answer_of(4)}, {1, RequestId(2), 100, 0, answer_of(2)}};
  EXPECT_TRUE(decode.step(first, 0).ended.empty());
  auto second = decode.step({}, 0);
  ASSERT_EQ(second.ended.size(), 1u);
  EXPECT_EQ(second.ended[0].request, RequestId(2));
  EXPECT_EQ(second.ended[0].tokens, 2u);
  auto third = decode.step({}, 0);
  ASSERT_EQ(third.ended.size(), 1u);
  EXPECT_EQ(third.ended[0].tokens, 3u) << "one of four was there before";
  EXPECT_EQ(decode.group.rows(), 0u);
}

TEST(DecodeGroup, RowsThatLeaveDoNotEnd) {
  DecodeGroupOptions options;
  options.rule = DraftRule::kOff;
  Decode decode(options);
  GroupPlan first;
  first.enters = {{0, RequestId(1), 100, 0, answer_of(2)}};
  decode.step(first, 0);
  GroupPlan second;
  second.leaves = {{0, RequestId(1)}, {0, RequestId(9)}};
  second.enters = {{1, RequestId(1), 100, 0, answer_of(3)}};
  EXPECT_TRUE(decode.step(second, 0).ended.empty()) << "its old place knows it no more";
  decode.step({}, 0);
  const auto last = decode.step({}, 0);
  ASSERT_EQ(last.ended.size(), 1u);
  EXPECT_EQ(last.ended[0].member, 1u);
  GroupPlan reset;
  reset.enters = {{0, RequestId(5), 100, 0, answer_of(50)}};
  decode.step(reset, 0);
  GroupPlan anew;
  anew.reset = true;
  decode.step(anew, 0);
  EXPECT_EQ(decode.group.rows(), 0u);
}

TEST(DecodeGroup, StepsOfARowScatterAsItsDraftsDo) {
  DecodeGroupOptions options;
  options.rule = DraftRule::kFixed;
  options.draft_chance = 0.75;
  Decode decode(options, 1);
  GroupPlan plan;
  constexpr std::uint64_t kRows = 4'000;
  for (std::uint64_t i = 1; i <= kRows; ++i) {
    plan.enters.push_back({0, RequestId(i), 100, 0, answer_of(2'000)});
  }
  double sum = 0;
  double squares = 0;
  std::uint64_t ended = 0;
  for (int step = 1; ended < kRows && step < 2'000; ++step) {
    for (const GroupEnd& end : decode.step(std::move(plan), 5).ended) {
      EXPECT_EQ(end.tokens, 2'000u);
      ++ended;
      sum += step;
      squares += static_cast<double>(step) * step;
    }
    plan = {};
  }
  ASSERT_EQ(ended, kRows);
  const double mean = sum / kRows;
  // CALIB.md: 608 steps for 2,000 tokens. One token more or less a step: 1.88 by hand for 0.75 and
  // five drafts, over the root of 608 steps and 3.29 tokens a step.
  EXPECT_NEAR(mean, 608.8, 1.5);
  EXPECT_NEAR(std::sqrt(squares / kRows - mean * mean), 1.88 * std::sqrt(608) / 3.288, 1.0);
}

}  // namespace
}  // namespace troupe
