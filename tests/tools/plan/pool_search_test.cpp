// The search for the smallest pools, against a queue whose answer is known, and against the
// simulator.
#include "tools/plan/pool_search.hpp"

#include <gtest/gtest.h>

#include "tools/plan/plan_file.hpp"
#include "tools/plan/simulated_answer.hpp"

namespace troupe {
namespace {

Slo objectives() {
  Slo slo;
  slo.ttft = milliseconds(450);
  slo.tpot = milliseconds(5);
  return slo;
}

/// A cluster that keeps the objectives if and only if its pools have so many GPUs.
PlanOutcome judged(const PoolLayout& layout, double prefill_needed, double decode_needed) {
  const bool first = layout.prefill_gpus() >= prefill_needed;
  const bool rest = layout.decode_gpus() >= decode_needed;
  PlanOutcome outcome;
  outcome.ttft_p95_ms = first ? 400 : 500;
  outcome.tpot_p95_ms = rest ? 4.5 : 5.5;
  // More GPUs help, as far as a share can tell.
  const double prefill = std::min(1.0, layout.prefill_gpus() / prefill_needed);
  const double decode = std::min(1.0, layout.decode_gpus() / decode_needed);
  outcome.good_share = first && rest ? 0.97 : 0.89 * std::min(prefill, decode);
  return outcome;
}

TEST(PoolLayout, HasWholeEnginesAndEqualInstances) {
  EXPECT_EQ(layout_of(1, 1), (PoolLayout{1, 1, 8}));
  EXPECT_EQ(layout_of(17, 64), (PoolLayout{5, 1, 64}));
  EXPECT_EQ(layout_of(230, 282), (PoolLayout{58, 5, 57}));
  EXPECT_EQ(layout_of(8, 20, 8), (PoolLayout{2, 3, 8}));
}

TEST(PoolSearch, FindsTheSmallestPoolsFromBelowAndFromAbove) {
  for (const auto& [prefill, decode] :
       {std::pair{4.0, 8.0}, std::pair{200.0, 20.0}, std::pair{30.0, 300.0}}) {
    PoolSearch search;
    search.slo = objectives();
    search.trials_most = 64;
    search.run = [](const PoolLayout& layout) { return judged(layout, 61, 100); };
    const auto trials = search.from(layout_of(prefill, decode));
    const auto best = fewest_that_hold(trials);
    ASSERT_TRUE(best);
    EXPECT_EQ(trials[*best].layout.prefill_gpus(), 64u) << prefill;
    EXPECT_GE(trials[*best].layout.decode_gpus(), 100u) << decode;
    EXPECT_LE(trials[*best].layout.decode_gpus(), 109u) << decode;
  }
}

TEST(PoolSearch, GrowsOnlyThePoolThatBreaksItsObjective) {
  PoolSearch search;
  search.slo = objectives();
  search.run = [](const PoolLayout& layout) { return judged(layout, 8, 40); };
  const auto trials = search.from(layout_of(8, 16));
  EXPECT_FALSE(trials.front().holds);
  for (const PoolTrial& trial : trials) EXPECT_LE(trial.layout.prefill_gpus(), 8u);
  EXPECT_TRUE(fewest_that_hold(trials));
}

TEST(PoolSearch, EndsWhereGpusDoNotHelpAndWhereARunHasAProblem) {
  PoolSearch search;
  search.slo = objectives();
  search.run = [](const PoolLayout&) {
    PlanOutcome outcome;
    outcome.ttft_p95_ms = 2'000;
    outcome.good_share = 0.6;
    return outcome;
  };
  auto trials = search.from(layout_of(8, 16));
  EXPECT_EQ(trials.size(), 3u);
  EXPECT_FALSE(fewest_that_hold(trials));
  search.run = [](const PoolLayout&) {
    PlanOutcome outcome;
    outcome.problem = "a rule was broken";
    return outcome;
  };
  EXPECT_EQ(search.from(layout_of(8, 16)).size(), 1u);
  search.trials_most = 4;
  search.run = [](const PoolLayout& layout) { return judged(layout, 1'000, 1'000); };
  EXPECT_EQ(search.from(layout_of(8, 16)).size(), 4u);
}

TEST(PoolSearch, PoolsThatFallBehindDoNotHold) {
  PoolSearch search;
  search.slo = objectives();
  search.answers_least = 97;
  search.run = [](const PoolLayout& layout) {
    PlanOutcome outcome = judged(layout, 1, 1);
    outcome.sustained_requests_per_s = std::min(100.0, 5.0 * layout.prefill_gpus());
    return outcome;
  };
  const auto trials = search.from(layout_of(8, 16));
  const auto best = fewest_that_hold(trials);
  ASSERT_TRUE(best);
  EXPECT_EQ(trials[*best].layout.prefill_gpus(), 20u);
}

/// The load of the seeds' example, sized by the closed form, then by the simulator.
SimulatedQuestion small_question() {
  SimulatedQuestion question;
  question.load.isl = 20'000;
  question.load.osl = Distribution::uniform(100, 300);
  question.load.request_rate = 60;
  question.load.slo = objectives();
  question.plan.load = {.requests = 1, .prompt = 20'000, .hit = 0.8, .output = 200, .rate = 60};
  question.plan.slo = objectives();
  question.hit_given = true;
  return question;
}

TEST(SimulatedAnswer, WhatItRecommendsKeepsTheObjectives) {
  const SimulatedQuestion question = small_question();
  const PlanSize size = answer_plan(question.plan).value().size;
  const auto answer = answer_by_simulation(question, size);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_TRUE(answer->best);
  const PoolTrial& best = answer->trials[*answer->best];
  EXPECT_GE(best.layout.prefill_gpus() + 3, size.prefill_gpus * question.plan.efficiency);
  // Again, with another seed: it was no luck.
  SimulatedQuestion other = question;
  other.load.seed = 99;
  other.load.num_requests = 3'000;
  const PlanOutcome outcome = run_plan({cluster_of(other, size, best.layout), other.load});
  EXPECT_EQ(outcome.problem, "");
  EXPECT_GE(outcome.good_share, kWithinSlo - 0.02);
}

TEST(SimulatedAnswer, KeepsUpWithItsRateWhereNoObjectiveSaysSo) {
  SimulatedQuestion question = small_question();
  question.load.request_rate = question.plan.load.rate = 600;
  question.load.slo = question.plan.slo = {};
  question.load.slo.tpot = question.plan.slo.tpot = milliseconds(50);
  const PlanSize size = answer_plan(question.plan).value().size;
  const auto answer = answer_by_simulation(question, size);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_TRUE(answer->best) << answer->sentence;
  const PoolTrial& best = answer->trials[*answer->best];
  EXPECT_GT(best.outcome.sustained_requests_per_s, 570);
  // A second of waiting would be a queue that grows.
  EXPECT_LT(best.outcome.ttft_p95_ms, 1'000);
  EXPECT_NE(answer->sentence.find("decode instance"), std::string::npos);
}

TEST(SimulatedAnswer, SaysWhatMostRequestsMetIfNoneIsAnswered) {
  SimulatedQuestion question = small_question();
  question.load.timeout = milliseconds(1);
  question.load.num_requests = 200;
  question.requests_given = true;
  const auto answer = answer_by_simulation(question, answer_plan(question.plan).value().size);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_FALSE(answer->best);
  EXPECT_NE(answer->sentence.find("patience"), std::string::npos) << answer->sentence;
  EXPECT_EQ(answer->sentence.find("objectives"), std::string::npos) << answer->sentence;
}

TEST(SimulatedAnswer, WhatItWritesGivesTheSameRunAgain) {
  const SimulatedQuestion question = small_question();
  const auto answer = answer_by_simulation(question, answer_plan(question.plan).value().size);
  ASSERT_TRUE(answer.ok() && answer->best);
  const auto plan = parse_cluster_plan(plan_file(answer->plan, answer->load, " --isl 5"), "w.yaml");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const PlanOutcome again = run_plan({*plan, answer->load});
  const PlanOutcome& tried = answer->trials[*answer->best].outcome;
  EXPECT_EQ(again.problem, "");
  EXPECT_EQ(again.ttft_p95_ms, tried.ttft_p95_ms);
  EXPECT_EQ(again.tpot_p95_ms, tried.tpot_p95_ms);
}

TEST(SimulatedAnswer, GivenGpusAreFilled) {
  SimulatedQuestion question = small_question();
  question.plan.gpus = 24;
  question.plan.prefill_gpus = 8;
  question.plan.batch = 64;
  question.plan.efficiency = 1;
  question.plan.slo = {};
  const PlanSize size = answer_plan(question.plan).value().size;
  const auto answer = answer_by_simulation(question, size);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_EQ(answer->trials.size(), 1u);
  EXPECT_NEAR(answer->trials[0].outcome.sustained_requests_per_s, size.capacity,
              0.12 * size.capacity);
}

TEST(SimulatedAnswer, QuestionsWithoutAnAnswerAreRefused) {
  const PlanSize size = answer_plan(small_question().plan).value().size;
  auto refused = [&](auto&& change) {
    SimulatedQuestion question = small_question();
    change(question);
    const auto answer = answer_by_simulation(question, size);
    return answer.ok() ? "" : answer.error().message;
  };
  EXPECT_NE(refused([](SimulatedQuestion& q) { q.plan.slo = {}; }).find("--goodput"),
            std::string::npos);
  EXPECT_NE(refused([](SimulatedQuestion& q) { q.plan.load.rate = 0; }).find("a rate"),
            std::string::npos);
  EXPECT_NE(refused([](SimulatedQuestion& q) { q.load.turns = 3; }).find("--hit"),
            std::string::npos);
  EXPECT_NE(refused([](SimulatedQuestion& q) { q.plan.decode_rate = 9; }).find("--decode-rate"),
            std::string::npos);
}

}  // namespace
}  // namespace troupe
