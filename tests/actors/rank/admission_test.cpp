// Which rows a rank takes, which it refuses, and how it feeds their prompts to the device.
#include "tests/actors/rank/rank_driver.hpp"

namespace troupe {
namespace {

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

RowRejected refusal(const Turn& turn, std::uint64_t id) {
  EXPECT_TRUE(turn.all<effect::LaunchStep>().empty()) << turn.story();
  EXPECT_TRUE(turn.all<effect::Watch>().empty()) << "a refused row leaves nothing behind";
  EXPECT_EQ(turn.metric("troupe_rank_rejected_total"), 1.0);
  return turn.only<RowRejected>(RankDriver::owner(id));
}

TEST(RankAdmission, ARowIsWatchedAndGuardedByABackstop) {
  RankDriver rank;
  const Turn turn = rank.submits(7, 10, 5);
  EXPECT_TRUE(turn.watches(RankDriver::owner(7)));
  EXPECT_EQ(turn.timer({RankDriver::kBackstop, 7}), rank.driver.now() + seconds(65));
  EXPECT_TRUE(turn.silent());
}

TEST(RankAdmission, ATooLongPromptIsRefusedWithBothNumbers) {
  RankDriver rank;
  const RowRejected answer = refusal(rank.submits(1, 5000, 5), 1);
  EXPECT_EQ(answer.request, RequestId(1));
  EXPECT_EQ(answer.code, Code::kInvalid);
  EXPECT_TRUE(contains(answer.message, "5000")) << answer.message;
  EXPECT_TRUE(contains(answer.message, "4096")) << answer.message;
}

TEST(RankAdmission, APromptThatFillsTheContextIsRefusedOneBelowRuns) {
  RankDriver rank;
  EXPECT_EQ(refusal(rank.submits(1, 4096, 5), 1).code, Code::kInvalid);
  EXPECT_EQ(rank.submits(2, 4095, 5).count<RowRejected>(), 0u);
}

TEST(RankAdmission, AnEmptyPromptIsRefused) {
  RankDriver rank;
  EXPECT_EQ(refusal(rank.submits(1, 0, 5), 1).code, Code::kInvalid);
}

TEST(RankAdmission, ARequestRunsOnce) {
  RankDriver rank;
  rank.submits(1, 10, 5);
  EXPECT_EQ(refusal(rank.submits(1, 10, 5), 1).code, Code::kInvalid);
  EXPECT_EQ(rank.driver.core().rows(), 1u);
}

TEST(RankAdmission, AFullQueueRefusesAndSaysHowLongItIs) {
  RankLimits limits;
  limits.max_num_seqs = 1;
  limits.queue_max = 2;
  RankDriver rank(limits);
  for (std::uint64_t id : {1, 2, 3}) {
    EXPECT_EQ(rank.submits(id, 10, 5).count<RowRejected>(), 0u) << id;
  }
  const RowRejected answer = refusal(rank.submits(4, 10, 5), 4);
  EXPECT_EQ(answer.code, Code::kUnavailable);
  EXPECT_TRUE(contains(answer.message, "2 requests wait")) << answer.message;
}

TEST(RankAdmission, ADrainingRankRefuses) {
  RankDriver rank;
  rank.submits(1, 10, 5);
  rank.hears(Drain{seconds(5)});
  const RowRejected answer = refusal(rank.submits(2, 10, 5), 2);
  EXPECT_EQ(answer.code, Code::kUnavailable);
  EXPECT_TRUE(contains(answer.message, "draining"));
}

TEST(RankAdmission, RowsBeyondTheLimitWaitAndTakeAFreedRowId) {
  RankLimits limits;
  limits.max_num_seqs = 2;
  RankDriver rank(limits);
  rank.submits(1, 10, 1);
  rank.submits(2, 10, 9);
  rank.submits(3, 10, 9);
  const RowId first = rank.flying.front().plan->rows.front().row;
  EXPECT_EQ(rank.planned(3), nullptr);
  rank.step_ends();  // request 1 has its one token
  while (rank.planned(3) == nullptr && !rank.flying.empty()) rank.step_ends();
  ASSERT_NE(rank.planned(3), nullptr);
  EXPECT_EQ(rank.planned(3)->row, first);
  EXPECT_TRUE(rank.planned(3)->fresh);
}

TEST(RankAdmission, WaitingRowsHoldNoBlocks) {
  RankLimits limits;
  limits.max_num_seqs = 1;
  RankDriver rank(limits);
  rank.submits(1, 300, 5);
  const std::uint32_t held = rank.driver.core().blocks_held();
  EXPECT_EQ(held, 3u);  // 302 tokens of 128 a block
  rank.submits(2, 300, 5);
  EXPECT_EQ(rank.driver.core().blocks_held(), held);
}

TEST(RankPrefill, AWholePromptIsOneStepThatSamples) {
  RankDriver rank;
  rank.submits(1, 10, 5);
  const StepRow& row = rank.flying.front().plan->rows.front();
  EXPECT_TRUE(row.fresh);
  EXPECT_EQ(row.start, 0u);
  EXPECT_EQ(row.count, 10u);
  EXPECT_TRUE(row.sample);
  EXPECT_FALSE(row.input_on_device);
  ASSERT_TRUE(row.tokens);
  EXPECT_EQ(row.tokens->size(), 10u);
}

TEST(RankPrefill, ALongPromptGoesInChunksOfTheBudgetAndOnlyTheLastSamples) {
  RankLimits limits;
  limits.max_num_batched_tokens = 8;
  RankDriver rank(limits);
  rank.submits(1, 20, 5);
  std::vector<StepRow> chunks;
  for (int i = 0; i < 3; ++i) {
    chunks.push_back(rank.flying.front().plan->rows.front());
    EXPECT_EQ(rank.step_ends().count<TokenBatch>(), i == 2 ? 1u : 0u);
  }
  EXPECT_EQ(chunks[0].start, 0u);
  EXPECT_EQ(chunks[0].count, 8u);
  EXPECT_TRUE(chunks[0].fresh);
  EXPECT_EQ(chunks[1].start, 8u);
  EXPECT_EQ(chunks[1].count, 8u);
  EXPECT_FALSE(chunks[1].fresh);
  EXPECT_FALSE(chunks[1].sample);
  EXPECT_EQ(chunks[2].start, 16u);
  EXPECT_EQ(chunks[2].count, 4u);
  EXPECT_TRUE(chunks[2].sample);
}

TEST(RankPrefill, RunningRowsComeBeforePrompts) {
  RankLimits limits;
  limits.max_num_batched_tokens = 8;
  limits.async_steps = false;
  RankDriver rank(limits);
  rank.submits(1, 4, 9);
  rank.submits(2, 20, 9);
  rank.step_ends();
  ASSERT_NE(rank.planned(1), nullptr);
  ASSERT_NE(rank.planned(2), nullptr);
  EXPECT_EQ(rank.planned(1)->count, 1u);
  EXPECT_EQ(rank.planned(2)->count, 7u);
}

TEST(RankPrefill, ASimulatedPromptHasALengthAndNoTokens) {
  RankDriver rank;
  SubmitRow submit = rank.row(1, 10, 5);
  submit.prompt.clear();
  rank.hears(submit);
  const StepRow& row = rank.flying.front().plan->rows.front();
  EXPECT_EQ(row.count, 10u);
  EXPECT_EQ(row.tokens, nullptr);
}

TEST(RankPrefill, SamplingAndScriptReachTheDevice) {
  RankDriver rank;
  SubmitRow submit = rank.row(1, 10, 5);
  submit.sampling.temperature = 0.25F;
  submit.script = "hello";
  rank.hears(submit);
  const StepRow& row = rank.flying.front().plan->rows.front();
  EXPECT_EQ(row.sampling.temperature, 0.25F);
  EXPECT_EQ(row.script, "hello");
}

}  // namespace
}  // namespace troupe
