// What a row holds, and that every end of it gives all of that back: after the steps in flight that
// use it, and no later.
#include "tests/actors/rank/rank_driver.hpp"

namespace troupe {
namespace {

/// Chunks of 8: a prompt of 100 stays in prefill for long.
RankLimits small_chunks() {
  RankLimits limits;
  limits.max_num_batched_tokens = 8;
  return limits;
}

std::uint32_t held(const RankDriver& rank) {
  return rank.driver.core().blocks_held();
}

bool released(const Turn& turn, std::uint64_t id) {
  return turn.unwatches(RankDriver::owner(id)) && turn.cancels_timer({RankDriver::kBackstop, id});
}

TEST(RankCancel, AWaitingRowGoesAtOnce) {
  RankLimits limits;
  limits.max_num_seqs = 1;
  RankDriver rank(limits);
  rank.submits(1, 10, 9);
  rank.submits(2, 10, 9);
  const Turn turn = rank.cancels(2);
  EXPECT_TRUE(released(turn, 2));
  EXPECT_TRUE(turn.all<effect::Cancel>().empty()) << "request 1 still runs";
  EXPECT_EQ(rank.driver.core().rows(), 1u);
}

TEST(RankCancel, InPrefillBlocksAreHeldUntilTheStepsInFlightEnd) {
  RankDriver rank(small_chunks());
  rank.submits(1, 100, 9);
  const std::vector<RankDriver::Flight> flights(rank.flying.begin(), rank.flying.end());
  ASSERT_EQ(flights.size(), 2u);
  const Turn turn = rank.cancels(1);
  EXPECT_FALSE(released(turn, 1));
  EXPECT_EQ(held(rank), 1u);
  std::vector<std::uint64_t> ops;
  for (const auto& cancel : turn.all<effect::Cancel>()) ops.push_back(cancel.op.value);
  EXPECT_EQ(ops, (std::vector<std::uint64_t>{flights[0].forward.value, flights[0].sample.value,
                                             flights[1].forward.value, flights[1].sample.value}));
  EXPECT_FALSE(released(rank.step_ends_cancelled(), 1));
  EXPECT_EQ(held(rank), 1u);
  EXPECT_TRUE(released(rank.step_ends_cancelled(), 1));
  EXPECT_EQ(held(rank), 0u);
  EXPECT_TRUE(rank.flying.empty());
}

TEST(RankCancel, InDecodeAStepThatOthersNeedIsNotCancelled) {
  RankLimits limits;
  limits.async_steps = false;
  RankDriver rank(limits);
  rank.submits(1, 10, 9);
  rank.submits(2, 10, 9);
  rank.step_ends();
  ASSERT_EQ(rank.flying.front().plan->rows.size(), 2u);
  EXPECT_TRUE(rank.cancels(1).all<effect::Cancel>().empty());
  EXPECT_EQ(held(rank), 2u);
  const Turn turn = rank.step_ends();
  EXPECT_TRUE(released(turn, 1));
  EXPECT_EQ(held(rank), 1u);
  const TokenBatch batch = turn.only<TokenBatch>(rank.streams);
  ASSERT_EQ(batch.rows.size(), 1u);
  EXPECT_EQ(batch.rows.front().request, RequestId(2));
}

TEST(RankCancel, AStepIsCancelledOnceTheLastOfItsRowsIsOver) {
  RankLimits limits;
  limits.async_steps = false;
  RankDriver rank(limits);
  rank.submits(1, 10, 9);
  rank.submits(2, 10, 9);
  rank.step_ends();
  rank.cancels(1);
  EXPECT_EQ(rank.cancels(2).all<effect::Cancel>().size(), 2u);  // forward and sample
}

TEST(RankCancel, AStepThatEndedAllTheSameBringsNothing) {
  RankDriver rank;
  rank.submits(1, 10, 9);
  rank.cancels(1);
  EXPECT_EQ(rank.step_ends().count<TokenBatch>(), 0u);
  EXPECT_EQ(rank.step_ends().count<TokenBatch>(), 0u);
  EXPECT_EQ(held(rank), 0u);
}

TEST(RankCancel, AnUnknownOrCancelledRequestChangesNothing) {
  RankDriver rank;
  rank.submits(1, 10, 9);
  EXPECT_TRUE(rank.cancels(99).order().empty());
  rank.cancels(1);
  rank.cancels(1);
  rank.step_ends_cancelled();
  EXPECT_TRUE(released(rank.step_ends_cancelled(), 1));
}

TEST(RankOwner, ItsEndEndsItsRowsAndNoOthers) {
  RankDriver rank;
  rank.submits(1, 10, 9);
  rank.submits(2, 10, 9);
  rank.hears(Down{RankDriver::owner(1), EndReason::kKilled, ""});
  rank.hears(Down{actor(77), EndReason::kKilled, ""});
  for (int i = 0; i < 4; ++i) rank.step_ends();
  EXPECT_EQ(rank.driver.core().rows(), 1u);
  EXPECT_EQ(held(rank), 1u);
  EXPECT_NE(rank.planned(2), nullptr);
}

TEST(RankOwner, BlocksHeldASecondAfterItsEndCountAsOrphaned) {
  RankDriver rank;
  rank.submits(1, 300, 9);
  const TimerTag check{RankDriver::kOrphans, 0};
  const Turn turn = rank.hears(Down{RankDriver::owner(1), EndReason::kKilled, ""});
  EXPECT_EQ(turn.timer(check), rank.driver.now() + seconds(1));
  rank.driver.passes(seconds(1));
  const Turn still = rank.hears(TimerFired{check});
  EXPECT_EQ(still.metric("troupe_kv_blocks_orphaned"), 3.0);
  EXPECT_TRUE(still.timer(check)) << "it looks again";
  rank.step_ends_cancelled();
  rank.step_ends_cancelled();
  const Turn gone = rank.hears(TimerFired{check});
  EXPECT_EQ(gone.metric("troupe_kv_blocks_orphaned"), 0.0);
  EXPECT_FALSE(gone.timer(check));
}

TEST(RankOwner, ARowThatHeldNothingIsNoOrphan) {
  RankLimits limits;
  limits.max_num_seqs = 1;
  RankDriver rank(limits);
  rank.submits(1, 10, 9);
  rank.submits(2, 10, 9);
  const Turn turn = rank.hears(Down{RankDriver::owner(2), EndReason::kKilled, ""});
  EXPECT_TRUE(released(turn, 2));
  EXPECT_FALSE(turn.timer({RankDriver::kOrphans, 0}));
}

TEST(RankBackstop, ARowWhoseOwnerForgotItEnds) {
  RankDriver rank;
  rank.submits(1, 10, 9);
  const Turn turn = rank.hears(TimerFired{{RankDriver::kBackstop, 1}});
  EXPECT_EQ(turn.all<effect::Cancel>().size(), 4u);
  EXPECT_TRUE(turn.metric("row_backstop")) << "it is worth a warning";
}

TEST(RankStreams, WithoutAStreamTableNobodyReadsTheseRows) {
  RankDriver rank;
  rank.submits(1, 10, 9);
  SubmitRow elsewhere = rank.row(2, 10, 9);
  elsewhere.streams = actor(51);
  rank.hears(elsewhere);
  rank.hears(Undeliverable{rank.streams, TokenBatch::info.kind});
  for (int i = 0; i < 4; ++i) rank.step_ends();
  EXPECT_EQ(rank.driver.core().rows(), 1u);
  EXPECT_NE(rank.planned(2), nullptr);
}

TEST(RankPark, AParkedRowKeepsItsBlocksAndIsNotPlanned) {
  RankDriver rank;
  rank.submits(1, 10, 9);
  EXPECT_TRUE(rank.parks(1, true).order().empty());
  EXPECT_EQ(rank.step_ends().count<TokenBatch>(), 1u) << "what is in flight still arrives";
  EXPECT_EQ(rank.step_ends().count<TokenBatch>(), 1u);
  EXPECT_TRUE(rank.flying.empty());
  EXPECT_EQ(held(rank), 1u);
  rank.parks(1, false);
  ASSERT_NE(rank.planned(1), nullptr);
  EXPECT_EQ(rank.planned(1)->start, 12u);
  EXPECT_FALSE(rank.planned(1)->fresh);
}

TEST(RankPark, AParkedRowCanBeCancelled) {
  RankDriver rank;
  rank.submits(1, 10, 9);
  rank.parks(1, true);
  rank.step_ends();
  rank.step_ends();
  EXPECT_TRUE(released(rank.cancels(1), 1));
  EXPECT_EQ(held(rank), 0u);
}

TEST(RankDrain, AnIdleRankStopsAtOnce) {
  RankDriver rank;
  EXPECT_TRUE(rank.hears(Drain{seconds(5)}).stops());
}

TEST(RankDrain, ABusyRankFinishesWhatItHas) {
  RankLimits limits;
  limits.max_num_seqs = 1;
  RankDriver rank(limits);
  rank.submits(1, 10, 2);
  rank.submits(2, 10, 2);  // waits
  EXPECT_FALSE(rank.hears(Drain{seconds(5)}).stops());
  std::size_t finished = 0;
  bool stopped = false;
  while (!rank.flying.empty()) {
    const Turn turn = rank.step_ends();
    for (const auto& batch : turn.sent<TokenBatch>(rank.streams)) {
      finished += batch.rows.front().finish == Finish::kLength ? 1 : 0;
    }
    EXPECT_EQ(turn.stops(), finished == 2);
    stopped = stopped || turn.stops();
  }
  EXPECT_TRUE(stopped);
}

}  // namespace
}  // namespace troupe
