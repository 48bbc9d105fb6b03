// Steps of simulated GPUs by a table of a real one, and by the formula.
#include "runtime/simulation/timing_model.hpp"

#include <gtest/gtest.h>

#include "runtime/simulation/cost_model.hpp"
#include "tests/runtime/files.hpp"

namespace troupe {
namespace {

StepRow prefill_row(std::uint32_t start, std::uint32_t count) {
  StepRow row;
  row.start = start;
  row.count = count;
  return row;
}

StepRow decode_row(std::uint32_t context) {
  StepRow row = prefill_row(context - 1, 1);
  row.input_on_device = true;
  return row;
}

class TimingModelTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = test::shared_path("timing/tables/dsv4flash-gb200-ep4-ep64.json");
    TROUPE_NEEDS_FILE(path);
    table = std::make_shared<const TimingTable>(TimingTable::load(path).value());
  }
  static double ms(TimingModel& model, std::vector<StepRow> rows) {
    StepPlan plan;
    plan.rows = std::move(rows);
    return model.step(plan).seconds() * 1e3;
  }
  std::shared_ptr<const TimingTable> table;
};

TEST_F(TimingModelTest, equal_requests_are_looked_up_as_they_are) {
  TimingModel model(table);
  EXPECT_NEAR(ms(model, {prefill_row(30'000, 5'000)}), 151.3091, 1e-3);
  EXPECT_NEAR(ms(model, {prefill_row(700, 500), prefill_row(700, 500), prefill_row(700, 500)}),
              48.2355, 1e-3);
  EXPECT_NEAR(ms(model, std::vector<StepRow>(50, decode_row(100'000))), 12.9713, 1e-3);
  EXPECT_EQ(model.use().points, 3u);
  EXPECT_EQ(model.use().measured + model.use().derived + model.use().extrapolated, 3u);
}

TEST_F(TimingModelTest, one_long_request_dominates_a_short_one) {
  TimingModel model(table);
  const double both = ms(model, {prefill_row(0, 8'000), prefill_row(0, 64)});
  EXPECT_NEAR(both, ms(model, {prefill_row(0, 8'064)}), 0.02 * both);
  EXPECT_GT(both, ms(model, {prefill_row(0, 4'032), prefill_row(0, 4'032)}));
}

TEST_F(TimingModelTest, what_is_beyond_the_measurements_is_counted) {
  TimingModel model(table);
  ms(model, {prefill_row(0, 200'000)});
  EXPECT_EQ(model.use().extrapolated, 1u);
  EXPECT_NE(model.extrapolation().find("100.0 % of 1 points"), std::string::npos);
  ms(model, {prefill_row(0, 1'000)});
  EXPECT_EQ(model.use().measured, 1u);
  ms(model, {prefill_row(0, 1'000), decode_row(2'000)});
  EXPECT_EQ(model.use().mixed_steps, 1u);
  EXPECT_NE(model.describe()[2].find("looked up 4 points"), std::string::npos);
}

TEST_F(TimingModelTest, sglang_runs_prompts_and_decoded_tokens_one_after_the_other) {
  TimingModel model(table);
  const double apart = ms(model, {prefill_row(0, 1'000)}) + ms(model, {decode_row(2'000)});
  EXPECT_NEAR(ms(model, {prefill_row(0, 1'000), decode_row(2'000)}), apart, 1e-5);
  EXPECT_NE(model.describe()[3].find("1 of 3 steps"), std::string::npos);
}

TEST_F(TimingModelTest, other_engines_read_the_weights_once_for_both) {
  const std::string path = test::shared_path("timing/tables/llama70b-fp8-h200-tp8.json");
  TROUPE_NEEDS_FILE(path);
  table = std::make_shared<const TimingTable>(TimingTable::load(path).value());
  TimingModel model(table);
  const double prompts = ms(model, {prefill_row(0, 2'000)}), decoded = ms(model, {decode_row(900)});
  const double both = ms(model, {prefill_row(0, 2'000), decode_row(900)});
  EXPECT_GT(both, prompts);
  EXPECT_LT(both, prompts + 0.2 * decoded) << "one token more in a pass costs next to nothing";
  const TimedStep pass = table->prefill(1, 2'001, 0);
  EXPECT_NEAR(both,
              pass.ms - pass.attention_ms + table->prefill(1, 2'000, 0).attention_ms +
                  table->decode(1, 900).attention_ms,
              1e-5);
}

TEST_F(TimingModelTest, the_host_takes_its_time_for_the_step_and_for_each_row_with_a_token) {
  TimingModel bare(table), hosted(table, {microseconds(1'000), microseconds(50)});
  std::vector<StepRow> rows(10, decode_row(2'000));
  for (StepRow& row : rows) row.sample = true;
  rows.push_back(prefill_row(0, 1'000));  // more of its prompt is to come: no token
  EXPECT_NEAR(ms(hosted, rows) - ms(bare, rows), 1.5, 1e-6);
  EXPECT_EQ(bare.describe().size() + 1, hosted.describe().size());
}

TEST_F(TimingModelTest, kv_that_does_not_fit_is_said_with_its_numbers) {
  EXPECT_EQ(memory_warning(*table, 1e6), "");
  const std::string warning = memory_warning(*table, 1e8);
  EXPECT_NE(warning.find("41.5 GiB of weights"), std::string::npos) << warning;
  EXPECT_NE(warning.find("185.0"), std::string::npos) << warning;
}

TEST(CostModel, gives_the_step_of_the_published_row) {
  // CALIB.md: 256 requests a GPU, 131,072 tokens of context, five drafts each: 32.04 ms.
  CostModel model;
  StepRow row = decode_row(131'072);
  row.start -= 5;
  row.count += 5;
  StepPlan plan;
  plan.rows.assign(256, row);
  EXPECT_NEAR(model.step(plan).seconds() * 1e3, 32.04, 0.01);
}

}  // namespace
}  // namespace troupe
