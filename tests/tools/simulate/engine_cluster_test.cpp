// Clusters of engines that prefill and decode: against the world that lists every row, what users
// are told, the same events on both drivers.
#include "tools/simulate/engine_cluster.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#if TROUPE_WITH_CAF
#include "runtime/actor/caf_world.hpp"
#endif

namespace troupe {
namespace {

EnginePlan plan_of(std::uint32_t engines, double rate, std::uint64_t requests) {
  EnginePlan plan;
  plan.engines = engines;
  plan.workload.request_rate = rate;
  plan.workload.num_requests = requests;
  plan.workload.isl = 3'000;
  plan.workload.isl_stddev = 1'000;
  plan.workload.osl = 100;
  return plan;
}

std::unique_ptr<EngineCluster> run(const EnginePlan& plan, EngineCluster::Options options = {}) {
  auto made = EngineCluster::make(plan, std::move(options));
  EXPECT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE((*made)->run().ok());
  for (const auto& rule : (*made)->broken_rules()) ADD_FAILURE() << rule;
  return std::move(made).value();
}

void expect_near(double found, double expected, double part, const char* what) {
  EXPECT_NEAR(found, expected, part * expected) << what;
}

TEST(EngineCluster, AgreesWithTheWorldThatListsEveryRow) {
  const EnginePlan plan = plan_of(4, 16, 800);
  const auto sums = run(plan);
  Scenario scenario;
  scenario.seed = plan.seed;
  scenario.cluster.ranks = plan.engines;
  scenario.cluster.max_num_seqs = plan.limits.rows_most;
  scenario.cluster.max_num_batched_tokens = plan.limits.step_tokens;
  scenario.cluster.async_steps = false;
  scenario.workload = plan.workload;
  auto made = SimulatedCluster::make(scenario, {});
  ASSERT_TRUE(made.ok());
  ASSERT_TRUE((*made)->run().ok());
  const TrafficReport& one = sums->traffic().report();
  const TrafficReport& other = (*made)->traffic().report();
  EXPECT_EQ(one.count(Outcome::kOk), 800u);
  EXPECT_EQ(one.output_tokens(), other.output_tokens());
  expect_near(one.ttft.mean(), other.ttft.mean(), 0.01, "TTFT");
  expect_near(one.ttft.percentile(99), other.ttft.percentile(99), 0.03, "TTFT p99");
  expect_near(one.tpot.mean(), other.tpot.mean(), 0.01, "TPOT");
  expect_near(one.e2el.mean(), other.e2el.mean(), 0.01, "E2E latency");
  EXPECT_LT(sums->world().events() * 5, (*made)->world().events());
}

TEST(EngineCluster, RowsGiveWayWhenTheKvIsFullAndAllAreAnswered) {
  EnginePlan plan = plan_of(2, 30, 300);
  plan.limits.kv_tokens = 16'000;
  plan.limits.context_most = 8'000;
  plan.workload.osl = 400;
  const auto cluster = run(plan);
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 300u);
  EXPECT_GT(cluster->notes().counted("vllm:num_preemptions_total"), 10);
}

TEST(EngineCluster, TheSameSeedGivesTheSameEvents) {
  for (const std::uint64_t seed : {3, 4}) {
    EnginePlan plan = plan_of(3, 20, 400);
    plan.seed = seed;
    plan.explore_ties = seed == 3;
    plan.limits.kv_tokens = 40'000;
    plan.workload.cancel_rate = 0.2;
    plan.workload.cancel_delay_most = seconds(3);
    plan.workload.timeout = seconds(20);
    const auto once = run(plan);
    EXPECT_GT(once->traffic().report().count(Outcome::kCancelled), 30u);
    EXPECT_EQ(once->world().trace_hash(), run(plan)->world().trace_hash());
#if TROUPE_WITH_CAF
    EngineCluster::Options hosted;
    hosted.make_world = [](WorldOptions options) -> std::unique_ptr<World> {
      return std::make_unique<CafWorld>(std::move(options));
    };
    EXPECT_EQ(once->world().trace_hash(), run(plan, std::move(hosted))->world().trace_hash());
#endif
  }
}

TEST(EngineCluster, SessionsHitWhatTheirEngineComputed) {
  TrafficPlan load;
  load.request_rate = 5;
  load.num_requests = 200;
  load.isl = 4'000;
  load.turn_isl = 500;
  load.osl = 50;
  load.turns = 4;
  load.think = 0.5;
  EngineCluster::Options options;
  options.load = load;
  const auto hit_of = [&](bool cache) {
    EnginePlan plan = plan_of(1, 0, 0);
    plan.limits.prefix_cache = cache;
    const auto cluster = run(plan, options);
    for (const ReportLine& line : cluster->lines()) {
      if (line.key == "hit_share") return std::get<double>(line.value);
    }
    return -1.0;
  };
  // Of turns of 4,000, 4,550, 5,100 and 5,650 tokens at most 0, 4,000, 4,550 and 5,100 are known.
  EXPECT_GT(hit_of(true), 0.6);
  EXPECT_LT(hit_of(true), 13'650.0 / 19'300);
  EXPECT_EQ(hit_of(false), 0);
}

/// Steps with prompts take 4 s, others 10 ms.
class SlowPrompts final : public GroupCost {
 public:
  double prompts_seconds(const PromptWork&) override { return 4; }
  double rows_seconds(const RowWork&) override { return 10e-3; }
  std::vector<std::string> describe() const override { return {"4 s a prompt"}; }
  std::string extrapolation() const override { return {}; }
};

// Case simulator-01: four run, each has its first token after 4 s, 100 come at once. What the
// server reports is what clients see, the waiting included, and the waiting is told alone, too.
TEST(EngineCluster, ReportsTheTtftThatClientsSee) {
  EnginePlan plan = plan_of(1, 0, 100);
  plan.limits.rows_most = 4;
  plan.limits.step_tokens = 1u << 20;
  plan.workload.concurrency = 100;
  plan.workload.osl = 1;
  EngineCluster::Options options;
  options.cost = std::make_shared<SlowPrompts>();
  const auto cluster = run(plan, std::move(options));
  const Histogram& seen = cluster->traffic().report().ttft;
  const Histogram* told = cluster->notes().observed("vllm:time_to_first_token_seconds");
  const Histogram* queue = cluster->notes().observed("vllm:request_queue_time_seconds");
  ASSERT_TRUE(told != nullptr && queue != nullptr);
  // The first one finds nobody and goes alone, then 24 rounds of four, and one of three.
  expect_near(seen.mean(), (4 + 16 * 324 + 3 * 104) / 100.0, 0.02, "the mean of 26 rounds");
  expect_near(told->mean(), seen.mean(), 0.02, "told and seen");
  expect_near(told->percentile(50), seen.percentile(50), 0.02, "told and seen, median");
  expect_near(told->percentile(99), seen.percentile(99), 0.02, "told and seen, p99");
  expect_near(queue->mean() + 4, told->mean(), 0.02, "queue and computing");
}

// Case simulator-03: a small table of KV, prompts that never fit among normal ones.
TEST(EngineCluster, NobodyWaitsForRoomThatNeverComes) {
  EnginePlan plan = plan_of(1, 20, 51);
  plan.limits.kv_tokens = 1'024;
  plan.workload.isl = 700;
  plan.workload.isl_stddev = 300;
  plan.workload.osl = 20;
  const auto cluster = run(plan);
  const TrafficReport& report = cluster->traffic().report();
  EXPECT_GT(report.count(Outcome::kFailed), 3u);
  EXPECT_GT(report.count(Outcome::kOk), 30u);
  EXPECT_EQ(report.count(Outcome::kOk) + report.count(Outcome::kFailed), 51u);
  ASSERT_FALSE(report.errors().empty());
  for (const auto& [error, count] : report.errors()) {
    EXPECT_NE(error.find("400"), std::string::npos) << error;
  }
}

TEST(EngineCluster, ThePlanOfTheRepositoryRuns) {
  const char* source = std::getenv("TROUPE_SOURCE");
  ASSERT_NE(source, nullptr);
  std::ifstream file(std::string(source) + "/config/sim-8-engines.yaml");
  std::ostringstream text;
  text << file.rdbuf();
  auto plan = parse_engine_plan(text.str(), "sim-8-engines.yaml");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->engines, 8u);
  plan->workload.num_requests = 300;
  EXPECT_EQ(run(*plan)->traffic().report().count(Outcome::kOk), 300u);
}

TEST(EngineCluster, APlanIsReadStrictly) {
  const auto plan = parse_engine_plan(
      "engines: {count: 3, kv_tokens: 5000, block_tokens: 512}\ntiming: x\n"
      "workload: {request_rate: 2}\n",
      "plan.yaml");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->engines, 3u);
  EXPECT_EQ(plan->limits.block_tokens, 512u);
  EXPECT_EQ(plan->timing, "x");
  const auto unknown = parse_engine_plan("engines: {count: 3, rows: 2}\n", "plan.yaml");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("plan.yaml:1"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("rows"), std::string::npos);
  EXPECT_FALSE(parse_engine_plan("engines: {count: 0}\n", "plan.yaml").ok());
  EXPECT_FALSE(is_engine_plan("engine: {ranks: 2}\n"));
}

}  // namespace
}  // namespace troupe
