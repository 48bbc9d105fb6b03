// A simulated engine: runs of steps timed one by one, what cuts them, steps that hold prompts.
#include "runtime/simulation/engine_model.hpp"

#include <gtest/gtest.h>

#include "runtime/simulation/cost_model.hpp"

namespace troupe {
namespace {

SimulatedWork output_of(std::uint32_t tokens) {
  SimulatedWork work;
  work.output = tokens;
  return work;
}

/// 10 ms a step, 1 µs a token of context; prompts 1 µs a token.
class PlainCost final : public GroupCost {
 public:
  double prompts_seconds(const PromptWork& work) override { return work.tokens * 1e-6; }
  double rows_seconds(const RowWork& work) override { return 10e-3 + work.context * 1e-6; }
  std::vector<std::string> describe() const override { return {}; }
  std::string extrapolation() const override { return {}; }
};

struct Engine {
  GroupResult launch(GroupPlan plan) {
    StepPlan step;
    step.group = std::make_shared<const GroupPlan>(std::move(plan));
    return take(model.forward(step, Time()));
  }
  GroupResult cut(Duration after_start) { return take(*model.cut(Time(), Time() + after_start)); }
  GroupResult take(const StepModel::Outcome& outcome) {
    takes = outcome.takes;
    return *outcome.result->group.result;
  }
  EngineModel model{std::make_shared<PlainCost>()};
  Duration takes;
};

GroupPlan two_rows(std::uint32_t steps_most) {
  GroupPlan plan;
  plan.enters = {{0, RequestId(1), 1'000, 1, output_of(6)},
                 {0, RequestId(2), 3'000, 1, output_of(101)}};
  plan.steps_most = steps_most;
  return plan;
}

/// Of so many steps of both rows from the beginning.
Duration time_of(int steps, double context = 4'000) {
  double ms = 0;
  for (int i = 0; i < steps; ++i) ms += 10 + (context + 2 * i) * 1e-3;
  return from_seconds(ms / 1e3);
}

TEST(EngineModel, ARunEndsWithTheFirstRowThatDoes) {
  Engine engine;
  const GroupResult result = engine.launch(two_rows(1'000));
  EXPECT_EQ(result.steps, 5u) << "six tokens, of which it has one";
  ASSERT_EQ(result.ended.size(), 1u);
  EXPECT_EQ(result.ended[0].request, RequestId(1));
  EXPECT_EQ(result.ended[0].tokens, 5u);
  EXPECT_EQ(result.tokens, 10);
  EXPECT_NEAR(engine.takes.milliseconds(), time_of(5).milliseconds(), 1e-5)
      << "each step reads what the steps before have added";
  EXPECT_EQ(engine.model.rows(), 1u);
}

TEST(EngineModel, OrWhenThePlanSaysSo) {
  Engine engine;
  const GroupResult result = engine.launch(two_rows(3));
  EXPECT_EQ(result.steps, 3u);
  EXPECT_TRUE(result.ended.empty());
  EXPECT_EQ(engine.launch({.steps_most = 100}).steps, 2u) << "where it stopped it goes on";
}

TEST(EngineModel, ACutRunIsAShorterOne) {
  Engine whole, engine;
  whole.launch(two_rows(2));
  engine.launch(two_rows(1'000));
  // In the middle of the second step.
  const GroupResult result = engine.cut(time_of(1) + milliseconds(3));
  EXPECT_EQ(result.steps, 2u);
  EXPECT_TRUE(result.ended.empty()) << "the row goes on";
  EXPECT_EQ(result.tokens, 4);
  EXPECT_EQ(engine.takes, whole.takes);
  for (Engine* one : {&whole, &engine}) {
    const GroupResult rest = one->launch({.steps_most = 1'000});
    EXPECT_EQ(rest.steps, 3u);
    ASSERT_EQ(rest.ended.size(), 1u);
    EXPECT_EQ(rest.ended[0].request, RequestId(1));
  }
  EXPECT_EQ(engine.takes, whole.takes);
}

TEST(EngineModel, InItsLastStepNothingIsCut) {
  Engine engine;
  const GroupResult result = engine.launch(two_rows(1'000));
  const Duration whole = engine.takes;
  const GroupResult same = engine.cut(whole - milliseconds(1));
  EXPECT_EQ(engine.takes, whole);
  EXPECT_EQ(same.steps, result.steps);
  EXPECT_EQ(same.tokens, result.tokens);
  ASSERT_EQ(same.ended.size(), 1u);
  EXPECT_EQ(same.ended[0].request, RequestId(1));
}

TEST(EngineModel, RowsGoOnBesidePrompts) {
  Engine engine;
  GroupPlan plan = two_rows(1);
  plan.chunks = {{0, RequestId(3), 0, 500, true, output_of(1)},
                 {0, RequestId(4), 128, 1'000, false, output_of(9)}};
  const GroupResult result = engine.launch(plan);
  EXPECT_EQ(result.steps, 1u);
  EXPECT_NEAR(engine.takes.milliseconds(), 1.5 + 14, 1e-6);
  ASSERT_EQ(result.ended.size(), 1u) << "an answer of one token";
  EXPECT_EQ(result.ended[0].request, RequestId(3));
  EXPECT_EQ(engine.launch({.steps_most = 100}).steps, 4u);
}

TEST(EngineModel, RowsThatLeaveAreForgotten) {
  Engine engine;
  engine.launch(two_rows(1));
  GroupPlan plan;
  plan.leaves = {{0, RequestId(1)}, {0, RequestId(77)}};
  plan.steps_most = 1'000;
  const GroupResult result = engine.launch(plan);
  EXPECT_EQ(result.steps, 99u);
  EXPECT_EQ(result.ended[0].request, RequestId(2));
}

}  // namespace
}  // namespace troupe
