// Plans that differ in some keys, and which of their outcomes are worth a look.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "tools/simulate/plan_variants.hpp"
#include "tools/simulate/sweep_command.hpp"

namespace troupe {
namespace {

class PlanFile {
 public:
  explicit PlanFile(const std::string& text) { std::ofstream(path_) << text; }
  ~PlanFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_ = testing::TempDir() + "plan.yaml";
};

constexpr const char* kPlan =
    "name: small\n"
    "prefill: {engines: 2, ranks: 2}\n"
    "decode: {ranks: 4, rows_most: 16}\n"
    "workload: {request_rate: 40, num_requests: 100, isl: 20000, cached_share: 0.9, osl: 50}\n";

std::vector<VariedKey> keys(std::initializer_list<const char*> texts) {
  std::vector<VariedKey> parsed;
  for (const char* text : texts) parsed.push_back(parse_varied_key(text).value());
  return parsed;
}

TEST(PlanVariants, AreAllCombinations) {
  const PlanFile file(kPlan);
  const auto variants =
      vary_plan(file.path(), keys({"prefill.engines=1,3", "constants.decode_efficiency=0.8,1"}));
  ASSERT_TRUE(variants.ok()) << variants.error().message;
  ASSERT_EQ(variants->size(), 4u);
  EXPECT_EQ((*variants)[1].values, (std::vector<std::string>{"1", "1"}));
  const auto& third = std::get<ClusterPlan>((*variants)[2].plan);
  EXPECT_EQ(third.prefill.engines, 3u);
  EXPECT_EQ(third.constant("decode_efficiency"), 0.8);
  EXPECT_EQ(third.decode.rows_most, 16u) << "the rest is the file's";
}

TEST(PlanVariants, WhatCannotBeSetIsRefusedByName) {
  const PlanFile file(kPlan);
  const auto unknown = vary_plan(file.path(), keys({"prefill.engins=1"}));
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("with prefill.engins=1"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("unknown key"), std::string::npos);
  EXPECT_FALSE(vary_plan(file.path(), keys({"prefill.engines=0"})).ok());
  EXPECT_FALSE(vary_plan(file.path(), keys({"name.first=a"})).ok()) << "a name has no parts";
  const auto twice = vary_plan(file.path(), keys({"seed=1", "prefill.ranks=1", "seed=2"}));
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().message, "--vary seed: given twice; give all its values at once");
  EXPECT_EQ(vary_plan("/no/such/plan", {}).error().code, Code::kNotFound);
  for (const char* text : {"", "a", "a=", "=1", "a=1,,2", "a..b=1", ".a=1", "a=1,"}) {
    EXPECT_FALSE(parse_varied_key(text).ok()) << text;
  }
}

TEST(PlanVariants, AreBounded) {
  const PlanFile file(kPlan);
  std::string many = "=1000";
  for (int i = 1; i < 100; ++i) many += "," + std::to_string(1000 + i);
  const std::string isl = "workload.isl" + many, osl = "workload.osl" + many;
  EXPECT_FALSE(vary_plan(file.path(), keys({isl.c_str(), osl.c_str()})).ok());
}

TEST(Sweep, GivesTheSameOnAnyNumberOfThreads) {
  const PlanFile file(kPlan);
  std::vector<PlanRun> plans;
  for (auto& variant : vary_plan(file.path(), keys({"seed=1,2,3", "prefill.ranks=1,2"})).value()) {
    plans.push_back({std::move(variant.plan), {}});
  }
  std::size_t told = 0;
  const auto one = run_plans(plans, 1, [&](std::size_t ended) { told = ended; });
  EXPECT_EQ(told, plans.size());
  const auto four = run_plans(plans, 4, [](std::size_t) {});
  for (std::size_t i = 0; i < plans.size(); ++i) {
    EXPECT_EQ(one[i].problem, "");
    EXPECT_GT(one[i].tokens_per_s_per_gpu, 0);
    EXPECT_EQ(one[i].tokens_per_s_per_gpu, four[i].tokens_per_s_per_gpu);
    EXPECT_EQ(one[i].ttft_p99_ms, four[i].ttft_p99_ms);
  }
}

TEST(Sweep, RunsEnginesThatDoBoth) {
  const PlanFile file(
      "engines: {count: 2, rows_most: 16}\n"
      "workload: {request_rate: 8, num_requests: 100, isl: 3000, osl: 50}\n");
  const auto variants = vary_plan(file.path(), keys({"engines.count=1,4"}));
  ASSERT_TRUE(variants.ok()) << variants.error().message;
  const PlanOutcome one = run_plan({(*variants)[0].plan, {}});
  const PlanOutcome four = run_plan({(*variants)[1].plan, {}});
  EXPECT_EQ(one.problem, "");
  EXPECT_EQ(four.gpus, 4u);
  EXPECT_GT(four.requests_per_s, 6) << "8 a second, and the last one's time";
  EXPECT_GT(one.ttft_p99_ms, four.ttft_p99_ms);
  // Rows share steps: a quarter of the load keeps an engine busy for more than a quarter.
  EXPECT_GT(four.decode_busy, one.decode_busy / 4);
  EXPECT_LT(four.decode_busy, one.decode_busy);
  EXPECT_LE(one.decode_busy, 1);
  const auto unknown = vary_plan(file.path(), keys({"prefill.engines=1"}));
  ASSERT_FALSE(unknown.ok()) << "a plan of engines has no prefill pool";
}

PlanOutcome outcome(double per_gpu, double user, double good = 1, const char* problem = "") {
  PlanOutcome one;
  one.tokens_per_s_per_gpu = per_gpu;
  one.user_tokens_per_s = user;
  one.good_share = good;
  one.problem = problem;
  return one;
}

TEST(ParetoFront, HoldsWhatNoOtherBeatsWithinTheSlo) {
  const std::vector<PlanOutcome> outcomes{
      outcome(100, 50), outcome(200, 40),      outcome(90, 50),         outcome(150, 30),
      outcome(100, 50), outcome(900, 90, 0.5), outcome(900, 90, 1, "x")};
  const std::vector<bool> expected{true, true, false, false, true, false, false};
  EXPECT_EQ(pareto_front(outcomes, 0.9), expected);
}

}  // namespace
}  // namespace troupe
