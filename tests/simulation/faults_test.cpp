// Killed actors and lost messages: what they held ends with an error, the rest goes on.
#include "tests/simulation/cluster.hpp"

namespace troupe {
namespace {

constexpr Duration kKilledAt = seconds(4);

Scenario with_kill(FaultKind kind) {
  Scenario scenario = open_loop(500);
  Fault fault;
  fault.kind = kind;
  fault.at = kKilledAt;
  scenario.faults.push_back(fault);
  return scenario;
}

class Kill : public testing::TestWithParam<FaultKind> {};

TEST_P(Kill, AffectedRequestsEndWithinASecondAndTrafficGoesOn) {
  auto cluster = assemble(with_kill(GetParam()));
  cluster->run_until(Time() + kKilledAt - nanoseconds(1));
  const std::uint64_t live = cluster->traffic().live();
  ASSERT_GT(live, 5u);
  cluster->run_until(Time() + kKilledAt + seconds(1));
  EXPECT_EQ(cluster->faults().kills(), 1u);
  const auto& report = cluster->traffic().report();
  const std::uint64_t failed = report.count(Outcome::kFailed);
  if (GetParam() == FaultKind::kKillRequest) {
    EXPECT_EQ(failed, 1u);
  } else {
    EXPECT_GE(failed, live);
    EXPECT_GE(*cluster->traffic().oldest_start(), Time() + kKilledAt);
  }
  const std::uint64_t ok = report.count(Outcome::kOk);
  EXPECT_TRUE(cluster->run().ok());
  expect_clean(*cluster);
  EXPECT_GT(report.count(Outcome::kOk), ok + 200);
}

INSTANTIATE_TEST_SUITE_P(Every, Kill,
                         testing::Values(FaultKind::kKillRank, FaultKind::kKillGateway,
                                         FaultKind::kKillStreams, FaultKind::kKillRequest));

TEST(Faults, AnotherRanksRequestsDoNotNotice) {
  Scenario scenario = with_kill(FaultKind::kKillRank);
  scenario.cluster.ranks = 4;
  const auto cluster = run_clean(scenario);
  const auto& report = cluster->traffic().report();
  EXPECT_GT(report.count(Outcome::kFailed), 0u);
  EXPECT_LT(report.count(Outcome::kFailed), 40u);
}

TEST(Faults, LostMessagesBetweenNodesEndAtTheDeadline) {
  Scenario scenario = open_loop(1500);
  scenario.cluster.nodes = 3;
  scenario.cluster.request_timeout = seconds(20);
  for (const char* message : {"submit_row", "cancel_row", "token_batch", "batch_taken"}) {
    Fault drop;
    drop.kind = FaultKind::kDrop;
    drop.until = seconds(1'000'000);
    drop.share = 0.01;
    drop.message = message;
    scenario.faults.push_back(drop);
  }
  scenario.workload.cancel_rate = 0.1;
  scenario.workload.cancel_delay_most = seconds(2);
  const auto cluster = run_clean(scenario);
  EXPECT_GT(cluster->faults().messages_dropped, 50u);
  EXPECT_GT(cluster->traffic().report().count(Outcome::kOk), 500u);
  EXPECT_GT(cluster->traffic().report().count(Outcome::kFailed), 20u);
}

TEST(Faults, ALostWindowOfCreditsDoesNotStopARank) {
  Scenario scenario = open_loop(300);
  scenario.cluster.nodes = 2;
  scenario.workload.osl = 100;
  scenario.cluster.request_timeout = seconds(60);
  Fault drop;
  drop.kind = FaultKind::kDrop;
  drop.until = seconds(1'000'000);
  drop.share = 1;
  drop.message = "batch_taken";
  scenario.faults.push_back(drop);
  const auto cluster = run_clean(scenario);
  EXPECT_GT(cluster->notes().counted("troupe_rank_credits_lost_total"), 0);
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 300u);
}

TEST(Faults, OtherInterleavingsKeepTheRulesToo) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Scenario scenario = open_loop(150);
    scenario.seed = seed;
    scenario.explore_ties = true;
    scenario.cluster.nodes = 2;
    scenario.cluster.blocks = 60;
    scenario.cluster.rank_queue_max = 500;
    scenario.workload.cancel_rate = 0.2;
    scenario.workload.cancel_delay_most = seconds(1);
    for (const auto kind : {FaultKind::kKillRank, FaultKind::kKillRequest, FaultKind::kKillStreams,
                            FaultKind::kKillGateway}) {
      Fault fault;
      fault.kind = kind;
      fault.at = milliseconds(500 + 600 * static_cast<int>(kind));
      scenario.faults.push_back(fault);
    }
    run_clean(scenario);
  }
}

}  // namespace
}  // namespace troupe
