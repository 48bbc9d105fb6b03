// Too little memory and slow clients.
#include "tests/simulation/cluster.hpp"

namespace troupe {
namespace {

TEST(Pressure, PreemptedRequestsFinishWithTheSameTokens) {
  Scenario scenario = open_loop(150);
  scenario.workload.request_rate = 200;
  scenario.workload.osl = 300;
  scenario.workload.osl_spread = 200;
  Tokens plenty, scarce;
  const auto easy = run_clean(scenario, collecting(plenty));
  scenario.cluster.blocks = 40;  // four requests' worth
  scenario.cluster.rank_queue_max = 1000;
  const auto hard = run_clean(scenario, collecting(scarce));
  EXPECT_EQ(easy->notes().counted("vllm:num_preemptions_total"), 0);
  EXPECT_GT(hard->notes().counted("vllm:num_preemptions_total"), 10);
  EXPECT_EQ(hard->traffic().report().count(Outcome::kOk), 150u);
  EXPECT_EQ(plenty, scarce);
}

TEST(Pressure, PreemptionWorksInBothStepModes) {
  for (const bool async : {true, false}) {
    for (const std::uint32_t blocks : {13u, 17u, 24u}) {
      Scenario scenario = open_loop(60);
      scenario.workload.osl = 200;
      scenario.cluster.blocks = blocks;
      scenario.cluster.async_steps = async;
      const auto cluster = run_clean(scenario);
      EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 60u) << blocks << async;
    }
  }
}

TEST(Pressure, PromptsThatCanNeverFitAreRefusedAtOnce) {
  Scenario scenario = open_loop(200);
  scenario.workload.isl = 900;
  scenario.workload.isl_stddev = 300;
  scenario.cluster.blocks = 8;  // 1024 tokens
  const auto cluster = run_clean(scenario);
  const auto& report = cluster->traffic().report();
  const std::uint64_t refused = report.errors().at("HTTP 400");
  EXPECT_GT(refused, 20u);
  EXPECT_EQ(report.count(Outcome::kOk) + refused, 200u);
}

TEST(Pressure, SlowReadersAreParkedAndGoOn) {
  Scenario scenario = open_loop(60);
  scenario.workload.osl = 200;
  scenario.cluster.bytes_per_token = 4096;
  scenario.workload.slow_readers = 0.3;
  scenario.workload.slow_reader_starts = seconds(8);
  const auto cluster = run_clean(scenario);
  EXPECT_GT(cluster->notes().counted("troupe_rows_parked_total"), 5);
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 60u);
}

TEST(Pressure, ReadersThatStayAwayAreCut) {
  Scenario scenario = open_loop(60);
  scenario.workload.osl = 200;
  scenario.cluster.bytes_per_token = 4096;
  scenario.workload.slow_readers = 0.3;
  const auto cluster = run_clean(scenario);
  const double cut = cluster->notes().counted("troupe_rows_cut_slow_client_total");
  EXPECT_GT(cut, 5);
  EXPECT_EQ(static_cast<double>(cluster->traffic().report().errors().at("the answer was cut")),
            cut);
}

TEST(Pressure, ParkedRowsGiveWayWhenBlocksAreShort) {
  Scenario scenario = open_loop(60);
  scenario.workload.osl = 200;
  scenario.cluster.bytes_per_token = 4096;
  scenario.cluster.blocks = 40;
  scenario.workload.slow_readers = 0.3;
  scenario.workload.slow_reader_starts = seconds(8);
  const auto cluster = run_clean(scenario);
  EXPECT_GT(cluster->notes().counted("troupe_rows_parked_total"), 0);
  EXPECT_EQ(
      cluster->traffic().report().count(Outcome::kOk) +
          static_cast<std::uint64_t>(cluster->notes().counted("troupe_rows_cut_slow_client_total")),
      60u);
}

}  // namespace
}  // namespace troupe
