// Step times of groups from measured tables: one source a run, and what a report says of it.
#include "tools/simulate/group_timing.hpp"

#include <gtest/gtest.h>

#include "tests/runtime/files.hpp"
#include "tools/simulate/pd_report.hpp"

namespace troupe {
namespace {

constexpr const char* kTable = "timing/tables/dsv4flash-gb200-ep4-ep64.json";

ClusterPlan table_plan(const std::string& table) {
  ClusterPlan plan;
  plan.timing = table;
  plan.prefill.engines = 2;
  plan.decode.ranks = 4;
  plan.decode.drafts = "off";
  plan.workload.request_rate = 40;
  plan.workload.num_requests = 200;
  plan.workload.isl = 4'000;
  plan.workload.osl = 50;
  return plan;
}

std::string text_of(const ReportLines& lines, const std::string& key) {
  for (const ReportLine& line : lines) {
    if (line.key != key) continue;
    if (const auto* one = std::get_if<std::string>(&line.value)) return *one;
    std::string all;
    for (const auto& entry : std::get<std::vector<std::string>>(line.value)) all += entry + "\n";
    return all;
  }
  return {};
}

TEST(GroupTiming, StepsOfBothPoolsAreTheTables) {
  const std::string path = test::shared_path(kTable);
  TROUPE_NEEDS_FILE(path);
  auto made = PdCluster::make(table_plan(path), {});
  ASSERT_TRUE(made.ok()) << made.error().message;
  PdCluster& cluster = **made;
  ASSERT_TRUE(cluster.run().ok());
  for (const auto& rule : cluster.broken_rules()) ADD_FAILURE() << rule;
  const TrafficReport& report = cluster.traffic().report();
  EXPECT_EQ(report.count(Outcome::kOk), 200u);
  const auto* model = dynamic_cast<const TimingModel*>(&cluster.cost());
  ASSERT_NE(model, nullptr);
  const TimingTable& table = *cluster.table();
  // A prompt alone on its rank, and rows few enough to be those of one row.
  EXPECT_GT(report.ttft.percentile(0) * 1e3, table.prefill(1, 4'000, 0).ms);
  EXPECT_NEAR(report.tpot.percentile(50) * 1e3, table.decode(3, 4'025).ms, 0.4);
  EXPECT_GT(model->use().points, model->use().steps / 4);
  EXPECT_EQ(model->use().points,
            model->use().measured + model->use().derived + model->use().extrapolated);
  const ReportLines lines = pd_lines(cluster);
  EXPECT_EQ(text_of(lines, "timing"), path);
  EXPECT_NE(text_of(lines, "costs").find("measured"), std::string::npos);
  EXPECT_NE(text_of(lines, "constants").find("of the table, at 131,072 tokens"), std::string::npos);
  EXPECT_NE(text_of(lines, "timing_warnings").find("the plan's has 4 ranks"), std::string::npos)
      << "the table is of EP64";
}

TEST(GroupTiming, WarnsWhenMemoryDoesNotFit) {
  const std::string path = test::shared_path(kTable);
  TROUPE_NEEDS_FILE(path);
  ClusterPlan plan;
  const auto table = TimingTable::load(path);
  ASSERT_TRUE(table.ok());
  EXPECT_TRUE(table_warnings(plan, *table).empty()) << table_warnings(plan, *table).front();
  plan.decode.kv_gb = 190;
  const auto warnings = table_warnings(plan, *table);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].find("decode: 11.3 GiB of weights"), 0u) << warnings[0];
}

TEST(GroupTiming, ARunHasOneSource) {
  const std::string path = test::shared_path(kTable);
  TROUPE_NEEDS_FILE(path);
  const std::string pools = "prefill: {engines: 1}\nworkload: {request_rate: 1, num_requests: 9}\n";
  auto plan = parse_cluster_plan(pools + "constants: {decode_extra_ms: 3.177}\n", "plan.yaml");
  ASSERT_TRUE(plan.ok());
  plan->timing = path;
  const auto made = PdCluster::make(*plan, {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("decode_extra_ms"), std::string::npos);
  auto host = parse_cluster_plan(pools + "host_step_us: 200\n", "plan.yaml");
  ASSERT_TRUE(host.ok());
  EXPECT_FALSE(PdCluster::make(*host, {}).ok()) << "the formula has a host of its own";
  host->timing = path;
  EXPECT_TRUE(PdCluster::make(*host, {}).ok());
}

TEST(GroupTiming, ATableThatIsNotThereIsAnError) {
  ClusterPlan plan = table_plan("no-such-table");
  const auto made = PdCluster::make(plan, {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Code::kNotFound);
  EXPECT_NE(made.error().message.find("no-such-table"), std::string::npos);
  plan.timing = "formula:v42";
  EXPECT_FALSE(PdCluster::make(plan, {}).ok());
}

TEST(GroupTiming, LinesThroughTheTableAreWhatBalancersBeginWith) {
  const std::string path = test::shared_path(kTable);
  TROUPE_NEEDS_FILE(path);
  const auto table = TimingTable::load(path);
  ClusterPlan plan;
  ASSERT_TRUE(take_table(plan, *table).ok());
  const double few = plan.constant("prefill_a_ms") + plan.constant("prefill_b_us") * 1.024;
  EXPECT_NEAR(few, table->prefill(1, 1'024, 0).ms, 1e-6);
  EXPECT_NEAR(plan.constant("decode_t0_ms"), table->decode(1, 1'024).ms, 1e-9);
  EXPECT_NEAR(plan.constant("kv_token_bytes"), 3'212, 1) << "TIMING.md section 3";
}

}  // namespace
}  // namespace troupe
