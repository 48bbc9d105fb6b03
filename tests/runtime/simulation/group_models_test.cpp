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

TEST(DecodeGroup, RowsAgreeWithAPlainListOfThem) {
  DecodeGroupOptions options;
  options.rule = DraftRule::kOff;  // a token a step, so that ends are known
  constexpr std::uint32_t kMembers = 3;
  Decode decode(options, kMembers);
  struct Plain {
    RequestId request;
    std::uint32_t member;
    std::uint32_t tokens;
    std::uint32_t context;
    std::uint32_t done = 0;
  };
  CostModel cost;
  std::vector<Plain> rows;
  Rng rng(7);
  std::uint64_t next = 0;
  for (int step = 0; step < 2'000; ++step) {
    GroupPlan plan;
    for (std::uint64_t i = rng.below(4); i > 0; --i) {
      const auto member = static_cast<std::uint32_t>(rng.below(kMembers));
      const auto tokens = static_cast<std::uint32_t>(1 + rng.below(12));
      const auto context = static_cast<std::uint32_t>(1'000 * (1 + rng.below(100)));
      plan.enters.push_back({member, RequestId(++next), context, 0, answer_of(tokens)});
      rows.push_back({RequestId(next), member, tokens, context});
    }
    if (rows.size() > plan.enters.size() && rng.chance(0.3)) {
      const auto gone = rng.below(rows.size() - plan.enters.size());
      plan.leaves.push_back({rows[gone].member, rows[gone].request});
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    const GroupResult result = decode.step(std::move(plan), 0);
    std::vector<std::tuple<std::uint32_t, RequestId, std::uint32_t>> expected, ended;
    for (std::uint32_t member = 0; member < kMembers; ++member) {
      RowWork all{};
      for (Plain& row : rows) {
        if (row.member != member) continue;
        all.rows += 1;
        all.tokens += 1;
        all.context += row.context + row.done++;
        if (row.done == row.tokens) expected.emplace_back(member, row.request, row.tokens);
      }
      const double seconds = all.rows == 0 ? 0 : cost.rows_seconds(all);
      ASSERT_NEAR(result.own[member].seconds(), seconds, 1e-8) << "step " << step;
    }
    std::erase_if(rows, [](const Plain& row) { return row.done == row.tokens; });
    for (const GroupEnd& end : result.ended)
      ended.emplace_back(end.member, end.request, end.tokens);
    ASSERT_EQ(ended, expected) << "by member, then by request";
    ASSERT_EQ(decode.group.rows(), rows.size());
  }
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
