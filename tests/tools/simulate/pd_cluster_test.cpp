// The cluster with prefill and decode apart: rules that every run keeps, also while groups die and
// clients leave; the same events on both drivers.
#include "tools/simulate/pd_cluster.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tools/simulate/pd_report.hpp"
#if TROUPE_WITH_CAF
#include "runtime/actor/caf_world.hpp"
#endif

namespace troupe {
namespace {

/// Two engines of two ranks and two instances of four, under a load that they carry.
ClusterPlan small_plan(std::uint64_t seed) {
  ClusterPlan plan;
  plan.seed = seed;
  plan.explore_ties = seed % 2 == 1;
  plan.prefill.engines = 3;
  plan.prefill.ranks = 2;
  plan.decode.instances = 2;
  plan.decode.ranks = 4;
  plan.decode.rows_most = 16;
  plan.prefix.cached_share = 0.9;
  plan.workload.request_rate = 60;
  plan.workload.num_requests = 600;
  plan.workload.isl = 20'000;
  plan.workload.isl_stddev = 8'000;
  plan.workload.osl = 200;
  plan.workload.osl_spread = 199;
  return plan;
}

ClusterFault killed(GroupKind group, std::uint32_t which, int at_ms) {
  ClusterFault fault;
  fault.group = group;
  fault.which = which;
  fault.at = milliseconds(at_ms);
  return fault;
}

void add_faults(ClusterPlan& plan) {
  plan.set_constant("start_up_s", 1, "test");
  plan.workload.cancel_rate = 0.1;
  plan.workload.cancel_delay_most = milliseconds(1'500);
  plan.workload.timeout = seconds(20);
  plan.faults = {
      killed(GroupKind::kPrefillEngine, 0, 1'200), killed(GroupKind::kDecodeInstance, 1, 2'000),
      killed(GroupKind::kPrefillEngine, 2, 2'900), killed(GroupKind::kDecodeInstance, 0, 3'500)};
}

std::unique_ptr<PdCluster> run(const ClusterPlan& plan, PdCluster::Options options = {}) {
  auto made = PdCluster::make(plan, std::move(options));
  EXPECT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE((*made)->run().ok());
  for (const auto& rule : (*made)->broken_rules()) ADD_FAILURE() << rule;
  return std::move(made).value();
}

TEST(PdCluster, EveryRequestIsAnswered) {
  const auto cluster = run(small_plan(2));
  const TrafficReport& report = cluster->traffic().report();
  EXPECT_EQ(report.count(Outcome::kOk), 600u);
  // Each answer has the tokens that were drawn for it, the first of them from the prefill engine.
  EXPECT_NEAR(static_cast<double>(report.output_tokens()) / 600, 200, 20);
  EXPECT_GE(report.osl.percentile(0), 1);
  EXPECT_LE(report.osl.percentile(100), 399 * 1.01);
  // 0.9 less the rounding to blocks and the windows that are gone.
  const PrefixIndex& entrypoint = cluster->route().prefixes();
  EXPECT_NEAR(
      static_cast<double>(entrypoint.tokens_hit()) / static_cast<double>(entrypoint.tokens_asked()),
      0.895, 0.005);
  // At 20,000 tokens, 2,100 of them to compute: 22 ms + 23 ms alone on a GPU, then waiting.
  EXPECT_GT(report.ttft.percentile(1), 0.025);
  EXPECT_LT(report.ttft.percentile(50), 0.3);
}

TEST(PdCluster, FindsWhatEarlierTurnsLeftInTheStore) {
  ClusterPlan plan = small_plan(4);
  TrafficPlan load;
  load.request_rate = 20;
  load.num_requests = 400;
  load.isl = 4'000;
  load.turn_isl = 500;
  load.osl = 100;
  load.turns = 4;
  load.think = 0.5;
  load.prefix_groups = 1;
  load.prefix_len = 2'048;
  PdCluster::Options options;
  options.load = load;
  const auto cluster = run(plan, std::move(options));
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 400u);
  // Turns 2 to 4 find all that was said before, first turns the group's prefix: of 6,048, 6,648,
  // 7,248 and 7,848 tokens at most 2,048, 6,048, 6,648 and 7,248, and at most 3 blocks less (the
  // window, rounding, a window that is gone). Sessions that were cut short have fewer late turns.
  const PrefixIndex& prefixes = cluster->route().prefixes();
  const double hit =
      static_cast<double>(prefixes.tokens_hit()) / static_cast<double>(prefixes.tokens_asked());
  EXPECT_LT(hit, 21'992.0 / 27'792);
  EXPECT_GT(hit, 21'992.0 / 27'792 - 4 * 3 * 128.0 / 27'792 - 0.05);
}

TEST(PdCluster, AnEnginesOwnCacheHelpsThoseWhoComeBackToIt) {
  const auto hit_of = [](const char* policy, std::uint64_t cache_tokens) {
    ClusterPlan plan = small_plan(4);
    plan.prefill.engines = 4;
    plan.prefill.policy = policy;
    plan.prefix.own_cache_tokens = cache_tokens;
    PdCluster::Options options;
    options.load = TrafficPlan();
    options.load->request_rate = 20;
    options.load->num_requests = 400;
    options.load->isl = 4'000;
    options.load->turn_isl = 500;
    options.load->osl = 100;
    options.load->turns = 4;
    options.load->think = 0.5;
    const auto cluster = run(plan, std::move(options));
    EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 400u);
    EXPECT_EQ(cluster->fabric().moves(MoveKind::kFetch), 0u) << "what an engine has is there";
    const PrefixIndex& prefixes = cluster->route().prefixes();
    return static_cast<double>(prefixes.tokens_hit()) /
           static_cast<double>(prefixes.tokens_asked());
  };
  const double back = hit_of("affinity", 1'000'000), anywhere = hit_of("round-robin", 1'000'000);
  EXPECT_GT(back, 0.55) << "turns find what was said before";
  EXPECT_LT(anywhere, 0.6 * back);
  EXPECT_GT(anywhere, 0.05);
  EXPECT_GT(hit_of("cost", 1'000'000), 0.5);
  EXPECT_LT(hit_of("affinity", 10'000), 0.5 * back) << "a small cache forgets";
}

TEST(PdCluster, ATraceThatIsNotThereIsAnError) {
  PdCluster::Options options;
  options.load = TrafficPlan();
  options.load->trace.file = "/no/such/trace.jsonl";
  const auto made = PdCluster::make(small_plan(1), std::move(options));
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("/no/such/trace.jsonl"), std::string::npos);
}

TEST(PdCluster, LosesNothingWhenGroupsDieAndClientsLeave) {
  std::uint64_t rerouted = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    ClusterPlan plan = small_plan(seed);
    add_faults(plan);
    const auto cluster = run(plan);
    const TrafficReport& report = cluster->traffic().report();
    EXPECT_EQ(report.total(), 600u);
    EXPECT_EQ(cluster->faults().groups_killed, 4u);
    EXPECT_GT(report.count(Outcome::kCancelled), 20u);
    EXPECT_GT(report.count(Outcome::kOk), 450u);
    rerouted +=
        static_cast<std::uint64_t>(cluster->notes().counted("troupe_requests_rerouted_total"));
  }
  EXPECT_GT(rerouted, 20u) << "rows of dead instances went on elsewhere";
}

TEST(PdCluster, UseIsOfTheWholeTimeUpToTheLoadsEnd) {
  ClusterPlan plan = small_plan(2);
  plan.workload.num_requests = 30;
  plan.workload.warmup = 200;  // one after the other
  const auto cluster = run(plan);
  const GroupUse decode = cluster->decode_use();
  EXPECT_GT(cluster->used_seconds(), 10 * cluster->traffic().report().duration().seconds());
  EXPECT_LE(decode.busy, decode.members * cluster->used_seconds());
  EXPECT_GT(decode.busy, 0);
}

TEST(PdCluster, WhatAGroupDidBeforeItWasKilledCounts) {
  ClusterPlan plan = small_plan(2);
  plan.set_constant("start_up_s", 0.1, "test");
  const GroupUse whole = run(plan)->prefill_use();
  // Near the load's end, which is at 10 s.
  plan.faults = {killed(GroupKind::kPrefillEngine, 0, 9'500),
                 killed(GroupKind::kPrefillEngine, 1, 9'500)};
  const GroupUse broken = run(plan)->prefill_use();
  EXPECT_EQ(broken.members, whole.members);
  EXPECT_NEAR(broken.busy, whole.busy, 0.1 * whole.busy);
  EXPECT_GE(broken.tokens, whole.tokens);
}

TEST(PdCluster, AKillAtTheMomentOfASampleIsNotSeenTwice) {
  ClusterPlan plan = small_plan(2);
  plan.set_constant("start_up_s", 0.1, "test");
  plan.faults = {killed(GroupKind::kDecodeInstance, 0, 2'000)};
  PdCluster::Options options;
  std::vector<double> busy{0};
  options.on_sample = [&](PdCluster& cluster) { busy.push_back(cluster.decode_use().busy); };
  auto made = PdCluster::make(plan, std::move(options));
  ASSERT_TRUE(made.ok());
  (*made)->run_until(Time() + seconds(6));
  ASSERT_EQ(busy.size(), 7u);
  for (std::size_t i = 1; i < busy.size(); ++i) {
    EXPECT_GE(busy[i], busy[i - 1]);
    EXPECT_LE(busy[i] - busy[i - 1], 8 * 1.000001) << "of eight GPUs, in a second";
  }
}

TEST(PdCluster, PausesChangeNothing) {
  ClusterPlan plan = small_plan(4);
  plan.workload.num_requests = 60;
  plan.set_constant("start_up_s", 1, "test");
  plan.faults = {killed(GroupKind::kDecodeInstance, 0, 900)};
  const auto whole = run(plan);
  auto made = PdCluster::make(plan, {});
  ASSERT_TRUE(made.ok());
  (*made)->run_until(Time() + milliseconds(142));
  ASSERT_TRUE((*made)->run().ok());
  EXPECT_EQ((*made)->world().events(), whole->world().events());
  EXPECT_EQ((*made)->world().trace_hash(), whole->world().trace_hash());
}

TEST(PdCluster, TheSameSeedGivesTheSameEvents) {
  for (const std::uint64_t seed : {3, 4}) {
    ClusterPlan plan = small_plan(seed);
    add_faults(plan);
    const auto once = run(plan);
    const auto again = run(plan);
    EXPECT_EQ(once->world().trace_hash(), again->world().trace_hash());
    EXPECT_EQ(once->world().events(), again->world().events());
#if TROUPE_WITH_CAF
    PdCluster::Options hosted;
    hosted.make_world = [](WorldOptions options) -> std::unique_ptr<World> {
      return std::make_unique<CafWorld>(std::move(options));
    };
    const auto caf = run(plan, std::move(hosted));
    EXPECT_EQ(caf->world().trace_hash(), once->world().trace_hash());
    EXPECT_EQ(caf->world().events(), once->world().events());
#endif
    plan.seed += 10;
    EXPECT_NE(run(plan)->world().trace_hash(), once->world().trace_hash());
  }
}

TEST(PdCluster, AColdClusterStartsUpFirst) {
  ClusterPlan plan = small_plan(2);
  plan.up_already = false;
  plan.workload.num_requests = 50;
  const auto cluster = run(plan);
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 50u);
  EXPECT_GT(cluster->world().now(), Time() + seconds(240));
}

TEST(PdCluster, SlowLinksShowInTheFirstToken) {
  ClusterPlan plan = small_plan(2);
  plan.workload.request_rate = 20;
  const double fast = run(plan)->traffic().report().tpot.mean();
  plan.set_constant("nic_gb_s", 0.5, "test");
  const auto slow = run(plan);
  // A push of 18 MB takes 36 ms instead of 0.4: between the first and the second token.
  EXPECT_GT(slow->traffic().report().tpot.mean(), fast + 0.036 / 400);
  std::uint32_t most = 0;
  for (std::uint32_t i = 0; i < slow->fabric().ports(); ++i) {
    most = std::max(most, slow->fabric().links().most_flows(slow->fabric().nic_in(PortId(i))));
  }
  EXPECT_GT(most, 1u);
}

TEST(PdCluster, AStallOfTheStorageDelaysFirstTokensAndPasses) {
  ClusterPlan plan = small_plan(2);
  const double smooth = run(plan)->traffic().report().ttft.percentile(99);
  ClusterFault stall;
  stall.act = FaultAct::kSlowLink;
  stall.part = FabricPart::kStorageRead;
  stall.share = kStalledShare;
  stall.at = seconds(1);
  stall.lasts = seconds(2);
  plan.faults = {stall};
  const auto stalled = run(plan);
  EXPECT_EQ(stalled->traffic().report().count(Outcome::kOk), 600u);
  EXPECT_GT(stalled->traffic().report().ttft.percentile(99), smooth + 1);
}

TEST(PdCluster, ThePlansOfTheRepositoryRun) {
  const char* source = std::getenv("TROUPE_SOURCE");
  ASSERT_NE(source, nullptr);
  for (const std::uint32_t gpus : {96, 128, 512}) {
    SCOPED_TRACE(gpus);
    auto plan =
        load_cluster_plan(std::string(source) + "/config/sim-" + std::to_string(gpus) + ".yaml");
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_EQ(plan->gpus(), gpus);
    EXPECT_TRUE(plan->hardware.fitted);
    plan->workload.num_requests = 300;
    EXPECT_EQ(run(*plan)->traffic().report().count(Outcome::kOk), 300u);
  }
}

TEST(PdCluster, ImpossiblePlansAreRefused) {
  ClusterPlan plan = small_plan(1);
  plan.decode.policy = "fair";
  const auto made = PdCluster::make(plan, {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("fair"), std::string::npos);
}

TEST(PdCluster, ItsReportNamesConstantsAndPools) {
  ClusterPlan plan = small_plan(2);
  plan.workload.num_requests = 20;
  const auto cluster = run(plan);
  const std::string text = vllm_block(cluster->traffic().report(), pd_lines(*cluster));
  for (const char* word : {"Prefill utilisation", "Decode waiting for the slowest", "prefill_b_us",
                           "CALIB.md", "EXTRAPOLATION", "Storage reads"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace troupe
