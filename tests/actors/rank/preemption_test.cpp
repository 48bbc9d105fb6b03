// Too few blocks for all: who gives way, and how it comes back without a lost or repeated token.
#include <map>

#include "tests/actors/rank/rank_driver.hpp"

namespace troupe {
namespace {

/// Three blocks of 128 tokens.
RankDriver small_rank(bool async) {
  RankLimits limits;
  limits.async_steps = async;
  return RankDriver(RankDriver::args_with(limits, 3));
}

/// Runs until nothing is in flight; what each request got, and every plan it was in.
struct Record {
  std::map<std::uint64_t, std::vector<TokenId>> tokens;
  std::map<std::uint64_t, std::vector<StepRow>> plans;
  std::map<std::uint64_t, Finish> finish;
};

void run_step(RankDriver& rank, Record& record) {
  for (const StepRow& row : rank.flying.front().plan->rows) {
    record.plans[row.request.value].push_back(row);
  }
  for (const TokenBatch& batch : rank.step_ends().sent<TokenBatch>(rank.streams)) {
    for (const RowTokens& row : batch.rows) {
      auto& tokens = record.tokens[row.request.value];
      EXPECT_EQ(row.first, tokens.size()) << "a gap or a repetition";
      tokens.insert(tokens.end(), row.tokens.begin(), row.tokens.end());
      record.finish[row.request.value] = row.finish;
    }
    rank.acknowledges(batch.step);
  }
}

void run_all(RankDriver& rank, Record& record) {
  while (!rank.flying.empty()) run_step(rank, record);
}

Record run_all(RankDriver& rank) {
  Record record;
  run_all(rank, record);
  return record;
}

std::vector<StepRow> restarts(const std::vector<StepRow>& plans) {
  std::vector<StepRow> fresh;
  for (const StepRow& row : plans) {
    if (row.fresh) fresh.push_back(row);
  }
  return fresh;
}

class RankPreemption : public testing::TestWithParam<bool> {};

TEST_P(RankPreemption, TheRowAdmittedLastGivesWayAndBothFinish) {
  RankDriver rank = small_rank(GetParam());
  rank.submits(1, 120, 200);
  rank.submits(2, 120, 200);
  Record record = run_all(rank);
  for (const std::uint64_t id : {1, 2}) {
    EXPECT_EQ(record.tokens[id].size(), 200u) << id;
    EXPECT_EQ(record.finish[id], Finish::kLength) << id;
  }
  EXPECT_EQ(restarts(record.plans[1]).size(), 1u) << "the oldest is never preempted";
  EXPECT_GT(restarts(record.plans[2]).size(), 1u);
  EXPECT_EQ(rank.driver.core().preemptions() + 1, restarts(record.plans[2]).size());
  EXPECT_EQ(rank.driver.core().blocks_held(), 0u);
  EXPECT_EQ(rank.driver.core().rows(), 0u);
}

TEST_P(RankPreemption, ItResumesWithItsPromptAndWhatItHadGenerated) {
  RankDriver rank = small_rank(GetParam());
  rank.submits(1, 120, 200);
  rank.submits(2, 120, 200);
  Record record = run_all(rank);
  const std::vector<StepRow> fresh = restarts(record.plans[2]);
  ASSERT_GT(fresh.size(), 1u);
  for (std::size_t i = 1; i < fresh.size(); ++i) {
    const StepRow& again = fresh[i];
    EXPECT_EQ(again.start, 0u);
    EXPECT_EQ(again.prompt_length, 120u);
    EXPECT_GT(again.generated, 0u);
    ASSERT_EQ(again.tokens->size(), 120u + again.generated);
    EXPECT_EQ(again.count, again.tokens->size());
    EXPECT_FALSE(again.input_on_device);
    for (std::uint32_t k = 0; k < again.generated; ++k) {
      EXPECT_EQ((*again.tokens)[120 + k], record.tokens[2][k]) << k;
    }
  }
}

TEST_P(RankPreemption, NoTwoRowsOfAStepShareABlock) {
  RankDriver rank = small_rank(GetParam());
  rank.submits(1, 120, 200);
  rank.submits(2, 120, 200);
  while (!rank.flying.empty()) {
    std::map<std::uint32_t, std::uint64_t> holder;
    for (const auto& flight : rank.flying) {
      for (const StepRow& row : flight.plan->rows) {
        EXPECT_GE(row.blocks.size() * kKvBlockTokens, row.start + row.count);
        for (const BlockId block : row.blocks) {
          const auto [at, fresh] = holder.emplace(block.value, row.request.value);
          EXPECT_TRUE(fresh || at->second == row.request.value) << "block " << block.value;
        }
      }
    }
    const Turn turn = rank.step_ends();
    for (const auto& batch : turn.sent<TokenBatch>(rank.streams)) rank.acknowledges(batch.step);
  }
}

TEST_P(RankPreemption, AParkedRowGivesWayBeforeOneThatRuns) {
  RankDriver rank = small_rank(GetParam());
  rank.submits(1, 120, 200);
  rank.submits(2, 120, 200);
  rank.parks(1, true);
  Record record = run_all(rank);
  EXPECT_EQ(restarts(record.plans[2]).size(), 1u);
  EXPECT_EQ(record.tokens[2].size(), 200u);
  EXPECT_GT(rank.driver.core().preemptions(), 0u);
  rank.parks(1, false);
  run_all(rank, record);
  EXPECT_EQ(record.tokens[1].size(), 200u);
}

TEST_P(RankPreemption, APreemptedRowCanBeCancelled) {
  RankDriver rank = small_rank(GetParam());
  rank.submits(1, 120, 200);
  rank.submits(2, 120, 200);
  Record record;
  while (rank.driver.core().preemptions() == 0) run_step(rank, record);
  const std::size_t before = record.tokens[2].size();
  rank.cancels(2);
  run_all(rank, record);
  EXPECT_EQ(record.tokens[2].size(), before);
  EXPECT_EQ(record.tokens[1].size(), 200u);
  EXPECT_EQ(rank.driver.core().blocks_held(), 0u);
  EXPECT_EQ(rank.driver.core().rows(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Depth, RankPreemption, testing::Bool(),
                         [](const auto& info) { return info.param ? "async" : "synchronous"; });

}  // namespace
}  // namespace troupe
