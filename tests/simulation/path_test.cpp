// The whole path, without faults of the cluster: every end that a request can have.
#include "tests/simulation/cluster.hpp"

namespace troupe {
namespace {

TEST(Path, EveryRequestIsAnsweredAndNothingIsLeft) {
  const auto cluster = run_clean(open_loop(400));
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 400u);
}

TEST(Path, RequestsSpreadOverTheRanksOfAllNodes) {
  Scenario scenario = open_loop(600);
  scenario.cluster.nodes = 3;
  scenario.cluster.ranks = 2;
  std::map<ActorRef, int> submitted;
  SimulatedCluster::Options options;
  options.observer = [&](Time, const Envelope& envelope) {
    if (envelope.message.as<SubmitRow>() != nullptr) ++submitted[envelope.to];
  };
  const auto cluster = run_clean(scenario, options);
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 600u);
  ASSERT_EQ(submitted.size(), 6u);
  for (const auto& [rank, count] : submitted) EXPECT_NEAR(count, 100, 30) << to_string(rank);
}

TEST(Path, TheServersTtftIsTheClients) {
  Scenario scenario = open_loop(200);
  scenario.workload.request_rate = 0;
  scenario.workload.concurrency = 100;
  scenario.cluster.max_num_seqs = 4;  // most of the time is waiting in the queue
  const auto cluster = run_clean(scenario);
  const Histogram* served = cluster->notes().observed("vllm:time_to_first_token_seconds");
  const Histogram* queued = cluster->notes().observed("vllm:request_queue_time_seconds");
  ASSERT_TRUE(served != nullptr && queued != nullptr);
  const Histogram& seen = cluster->traffic().report().ttft;
  EXPECT_NEAR(served->mean() / seen.mean(), 1, 0.02);
  EXPECT_NEAR(served->percentile(99) / seen.percentile(99), 1, 0.02);
  EXPECT_GT(queued->mean(), 0.5 * seen.mean());
}

TEST(Path, DeadlineEndsARequestWithAnError) {
  Scenario scenario = open_loop(100);
  scenario.workload.osl = 400;
  scenario.cluster.request_timeout = seconds(1);
  const auto cluster = run_clean(scenario);
  const auto& report = cluster->traffic().report();
  // A stream that has begun is cut; one that has not gets a status.
  EXPECT_EQ(report.count(Outcome::kFailed), 100u);
  EXPECT_GT(report.errors().at("the answer was cut"), 0u);
}

TEST(Path, AClientsPatienceEndsItsRequest) {
  Scenario scenario = open_loop(100);
  scenario.workload.timeout = milliseconds(300);
  const auto cluster = run_clean(scenario);
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kTimedOut), 100u);
}

// From before the adoption to the last token: whatever the stage, all is released within 50 ms
// after the step in flight has ended.
TEST(Path, CancelAtEveryStageReleasesEverything) {
  int stages_with_blocks = 0;
  for (const std::int64_t delay_us :
       {0, 1, 2, 3, 5, 50, 300, 420, 425, 430, 500, 20'000, 33'000, 45'000, 100'000, 300'000}) {
    Scenario scenario = open_loop(1);
    scenario.workload.request_rate = 0;
    scenario.workload.concurrency = 1;
    scenario.workload.osl = 40;
    scenario.workload.osl_spread = 0;
    scenario.workload.cancel_rate = 1;
    scenario.workload.cancel_delay = microseconds(delay_us);
    auto cluster = assemble(scenario);
    // The first request starts about 1 ms after the beginning (assembly.cpp, kSettle).
    const Time cancelled = Time() + milliseconds(1) + microseconds(delay_us);
    cluster->run_until(cancelled);
    const RankCore& rank = cluster->world().core<RankCore>(cluster->ranks().at(0));
    if (rank.blocks_held() > 0) ++stages_with_blocks;
    constexpr Duration kStep = milliseconds(45);
    cluster->run_until(cancelled + kStep + milliseconds(50));
    EXPECT_EQ(rank.rows(), 0u) << delay_us;
    EXPECT_EQ(rank.blocks_held(), 0u) << delay_us;
    EXPECT_EQ(cluster->world().core<GatewayCore>(cluster->gateway()).live_requests(), 0u);
    EXPECT_EQ(cluster->world().actor_count(), cluster->fixed_actors()) << delay_us;
    EXPECT_TRUE(cluster->run().ok());
    expect_clean(*cluster);
    EXPECT_EQ(cluster->traffic().report().count(Outcome::kCancelled), 1u) << delay_us;
  }
  EXPECT_GE(stages_with_blocks, 4);
}

TEST(Path, CancelsInTheQueueReleaseTheirPlace) {
  Scenario scenario = open_loop(300);
  scenario.cluster.max_num_seqs = 1;
  scenario.cluster.rank_queue_max = 1000;
  scenario.workload.cancel_rate = 0.9;
  scenario.workload.cancel_delay_most = seconds(2);
  const auto cluster = run_clean(scenario);
  EXPECT_GT(cluster->traffic().report().count(Outcome::kCancelled), 200u);
  EXPECT_GT(cluster->traffic().report().count(Outcome::kOk), 0u);
}

TEST(Path, OverloadIsRefusedAtOnce) {
  Scenario scenario = open_loop(300);
  scenario.workload.request_rate = 1000;
  scenario.cluster.requests_max = 20;
  const auto cluster = run_clean(scenario);
  const auto& report = cluster->traffic().report();
  EXPECT_GT(report.errors().at("HTTP 503 overloaded"), 100u);
  EXPECT_GE(report.count(Outcome::kOk), 20u);
}

TEST(Path, DrainFinishesWhatRunsAndRefusesTheRest) {
  Scenario scenario = open_loop(400);
  auto cluster = assemble(scenario);
  cluster->run_until(Time() + seconds(4));
  const std::uint64_t live = cluster->traffic().live();
  const std::uint64_t ok = cluster->traffic().report().count(Outcome::kOk);
  ASSERT_GT(live, 5u);
  cluster->world().post(cluster->world().now(), cluster->root(0), make_message<Drain>(seconds(10)));
  EXPECT_TRUE(cluster->run().ok());
  const auto& report = cluster->traffic().report();
  EXPECT_EQ(report.count(Outcome::kOk), ok + live);
  EXPECT_EQ(report.total(), 400u);
  EXPECT_EQ(cluster->world().actor_count(), 1u);  // the traffic
}

TEST(Path, StepModesGiveTheSameTokens) {
  Scenario scenario = open_loop(200);
  scenario.cluster.max_num_batched_tokens = 700;  // prompts come in chunks
  Tokens with_async, without;
  const auto fast = run_clean(scenario, collecting(with_async));
  scenario.cluster.async_steps = false;
  const auto slow = run_clean(scenario, collecting(without));
  EXPECT_EQ(with_async, without);
  EXPECT_EQ(with_async.size(), 200u);
}

}  // namespace
}  // namespace troupe
