// Runs every cluster's plan of the folder `clusters`: one for each kind of fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tools/simulate/pd_cluster.hpp"
#if TROUPE_WITH_CAF
#include "runtime/actor/caf_world.hpp"
#endif

namespace troupe {
namespace {

std::vector<std::string> plan_files() {
  const char* source = std::getenv("TROUPE_SOURCE");
  TROUPE_ASSERT(source != nullptr, "tools/test sets TROUPE_SOURCE");
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(source) + "/tests/simulation/clusters")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::unique_ptr<PdCluster> run_plan(const ClusterPlan& plan, PdCluster::Options options = {}) {
  auto made = PdCluster::make(plan, std::move(options));
  EXPECT_TRUE(made.ok()) << made.error().message;
  const Status ended = (*made)->run();
  EXPECT_TRUE(ended.ok()) << ended.error().message;
  for (const auto& rule : (*made)->broken_rules()) ADD_FAILURE() << rule;
  return std::move(made).value();
}

TEST(Clusters, EachKeepsItsExpectations) {
  const auto files = plan_files();
  ASSERT_GE(files.size(), 6u);
  for (const auto& file : files) {
    SCOPED_TRACE("replay: troupe simulate --config " + file);
    const auto plan = load_cluster_plan(file);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_FALSE(plan->name.empty());
    const auto cluster = run_plan(*plan);
    for (const auto& line : unmet_expectations(*cluster)) ADD_FAILURE() << line;
  }
}

TEST(Clusters, KeepAllRulesAfterEachEventInOtherInterleavingsToo) {
  for (const auto& file : plan_files()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE("replay: troupe simulate --config " + file + " --explore --check-every-event " +
                   "--num-requests 300 --seed " + std::to_string(seed));
      auto plan = load_cluster_plan(file);
      ASSERT_TRUE(plan.ok()) << plan.error().message;
      plan->seed = seed;
      plan->explore_ties = true;
      plan->workload.num_requests = 300;
      PdCluster::Options options;
      options.sweep_every_event = true;
      const auto cluster = run_plan(*plan, std::move(options));
      EXPECT_EQ(cluster->rules().looked_at(), cluster->world().events());
      EXPECT_EQ(cluster->traffic().report().total(), 300u);
    }
  }
}

#if TROUPE_WITH_CAF
TEST(Clusters, BothDriversCarryOutTheSameFaults) {
  for (const auto& file : plan_files()) {
    SCOPED_TRACE(file);
    auto plan = load_cluster_plan(file);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    plan->workload.num_requests = 300;
    const auto heap = run_plan(*plan);
    PdCluster::Options hosted;
    hosted.make_world = [](WorldOptions options) -> std::unique_ptr<World> {
      return std::make_unique<CafWorld>(std::move(options));
    };
    const auto caf = run_plan(*plan, std::move(hosted));
    EXPECT_EQ(caf->world().trace_hash(), heap->world().trace_hash());
    EXPECT_EQ(caf->world().events(), heap->world().events());
  }
}
#endif

TEST(Clusters, AFreezeThatNobodyNoticesOnlyTakesItsTime) {
  auto plan = load_cluster_plan(plan_files().front());
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  plan->faults.clear();
  const std::uint64_t smooth = run_plan(*plan)->world().trace_hash();
  ClusterFault freeze;
  freeze.act = FaultAct::kFreeze;
  freeze.group = GroupKind::kDecodeInstance;
  freeze.which = 0;
  freeze.at = seconds(3);
  freeze.lasts = milliseconds(800);
  plan->faults = {freeze};
  const auto cluster = run_plan(*plan);
  EXPECT_NE(cluster->world().trace_hash(), smooth);
  EXPECT_EQ(cluster->faults().nodes_lost, 0u);
  EXPECT_EQ(cluster->notes().counted("troupe_requests_rerouted_total"), 0);
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kFailed), 0u);
}

TEST(Clusters, RulesThatAreBrokenAreSaid) {
  // Without clients' patience and with all starts lost nothing ends but by the request's deadline.
  auto plan = load_cluster_plan(plan_files().front());
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  plan->request_timeout = seconds(20);
  plan->workload.num_requests = 50;
  ClusterFault loss;
  loss.act = FaultAct::kDrop;
  loss.message = "start_prefill";
  loss.share = 1;
  plan->faults = {loss};
  plan->expect = {};
  plan->expect.ok_min = 1;
  const auto cluster = run_plan(*plan);
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 0u);
  EXPECT_EQ(cluster->traffic().report().total(), 50u);
  ASSERT_EQ(unmet_expectations(*cluster).size(), 1u);
  EXPECT_EQ(unmet_expectations(*cluster)[0].substr(0, 12), "ok: 0.000000");
}

TEST(Clusters, ALossOfAnUnknownMessageIsRefusedWithTheKnownOnes) {
  ClusterPlan plan;
  plan.workload.concurrency = 1;
  plan.workload.num_requests = 1;
  ClusterFault loss;
  loss.act = FaultAct::kDrop;
  loss.message = "start_prefil";
  plan.faults = {loss};
  const auto made = PdCluster::make(plan, {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("no message start_prefil travels between nodes"),
            std::string::npos);
  EXPECT_NE(made.error().message.find("start_prefill"), std::string::npos);
}

}  // namespace
}  // namespace troupe
