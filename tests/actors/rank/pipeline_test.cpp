// The step: what is in flight, in which order it is launched, and what its results become.
#include "tests/actors/rank/rank_driver.hpp"

namespace troupe {
namespace {

using Words = std::vector<std::string>;

RankLimits synchronous() {
  RankLimits limits;
  limits.async_steps = false;
  return limits;
}

void bring(RowResult& row, std::initializer_list<std::int32_t> tokens) {
  row.tokens.clear();
  for (const std::int32_t token : tokens) row.tokens.emplace_back(token);
}

TEST(RankPipeline, TwoStepsAreInFlight) {
  RankDriver rank;
  const Turn turn = rank.submits(1, 10, 9);
  EXPECT_EQ(turn.order(), (Words{"forward 1", "sample 1", "forward 2", "sample 2"}));
  EXPECT_EQ(rank.driver.core().steps_in_flight(), 2u);
}

TEST(RankPipeline, TheNextForwardIsLaunchedBeforePostProcessingAndItsSampleAfter) {
  RankDriver rank;
  rank.submits(1, 10, 9);
  const Turn turn = rank.step_ends();
  EXPECT_EQ(turn.order(), (Words{"forward 3", "token_batch", "sample 3"}));
  EXPECT_EQ(turn.only<TokenBatch>(rank.streams).step, 1u);
  EXPECT_EQ(rank.driver.core().steps_in_flight(), 2u);
}

TEST(RankPipeline, OneStepIsInFlightWhenSynchronous) {
  RankDriver rank(synchronous());
  EXPECT_EQ(rank.submits(1, 10, 9).order(), (Words{"forward 1", "sample 1"}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rank.step_ends().only<TokenBatch>(rank.streams).rows.size(), 1u);
    EXPECT_EQ(rank.driver.core().steps_in_flight(), 1u);
  }
}

TEST(RankPipeline, AForwardsEndAloneChangesNothing) {
  RankDriver rank;
  rank.submits(1, 10, 9);
  const Turn turn = rank.hears(Done<StepResult>{rank.flying.front().forward, false, {}, {}});
  EXPECT_TRUE(turn.order().empty()) << turn.story();
  EXPECT_EQ(rank.driver.core().steps_in_flight(), 2u);
}

TEST(RankPipeline, DecodeTakesItsInputOnTheDevice) {
  RankDriver rank;
  rank.submits(1, 10, 9);
  const StepRow& decode = *rank.planned(1);
  EXPECT_TRUE(decode.input_on_device);
  EXPECT_FALSE(decode.fresh);
  EXPECT_EQ(decode.start, 10u);
  EXPECT_EQ(decode.count, 1u);
}

TEST(RankPipeline, LaunchesHaveAWatchdogAndTakeTurnsWithSlots) {
  RankDriver rank;
  const Turn turn = rank.submits(1, 10, 9);
  const auto launches = turn.all<effect::LaunchStep>();
  for (const auto& launch : launches) {
    EXPECT_EQ(launch.deadline, rank.driver.now() + seconds(30));
  }
  EXPECT_EQ(launches[0].slot, launches[1].slot);
  EXPECT_NE(launches[1].slot, launches[2].slot);
}

TEST(RankPipeline, ADeviceFailureEndsTheRank) {
  RankDriver rank;
  rank.submits(1, 10, 9);
  const Error hung{Code::kDeadline, "hung"};
  EXPECT_TRUE(rank.hears(Done<StepResult>{rank.flying.front().forward, true, hung, {}}).crashes());
}

TEST(RankResults, ARowThatEndedIsDroppedFromTheStepThatHasItAlready) {
  RankDriver rank;
  SubmitRow submit = rank.row(1, 10, 9);
  submit.stop_ids = {TokenId(1001)};  // what step 1 brings
  rank.hears(submit);
  const RowTokens last = rank.step_ends().only<TokenBatch>(rank.streams).rows.front();
  EXPECT_EQ(last.finish, Finish::kStop);
  EXPECT_EQ(last.tokens, std::vector<TokenId>{TokenId(1001)});
  EXPECT_GT(rank.driver.core().blocks_held(), 0u) << "step 2 still uses them";
  const Turn after = rank.step_ends();
  EXPECT_EQ(after.count<TokenBatch>(), 0u) << "the row ended before";
  EXPECT_EQ(rank.driver.core().blocks_held(), 0u);
  EXPECT_TRUE(after.unwatches(RankDriver::owner(1)));
  EXPECT_TRUE(after.cancels_timer({RankDriver::kBackstop, 1}));
}

TEST(RankResults, TheTokenLimitEndsARowWithoutAWastedStep) {
  RankDriver rank;
  rank.submits(1, 10, 2);
  EXPECT_EQ(rank.step_ends().only<TokenBatch>(rank.streams).rows.front().finish, Finish::kNone);
  EXPECT_EQ(rank.flying.size(), 1u) << "its last token is on the way already";
  EXPECT_EQ(rank.step_ends().only<TokenBatch>(rank.streams).rows.front().finish, Finish::kLength);
  EXPECT_TRUE(rank.flying.empty());
  EXPECT_EQ(rank.driver.core().rows(), 0u);
}

TEST(RankResults, WithoutATokenLimitTheContextEndsARow) {
  RankCore::Args args = RankDriver::args_with({});
  args.device.context_max = 14;
  RankDriver rank(args);
  rank.submits(1, 10, 0);
  std::size_t tokens = 0;
  Finish finish = Finish::kNone;
  while (!rank.flying.empty()) {
    for (const TokenBatch& batch : rank.step_ends().sent<TokenBatch>(rank.streams)) {
      tokens += batch.rows.front().tokens.size();
      finish = batch.rows.front().finish;
    }
  }
  EXPECT_EQ(tokens, 4u);
  EXPECT_EQ(finish, Finish::kLength);
}

TEST(RankResults, SeveralTokensOfOneStepAreContiguousAndMoveTheRow) {
  RankDriver rank(synchronous());
  rank.submits(1, 10, 9);
  const auto three = [](RowResult& row) { bring(row, {1, 2, 3}); };
  EXPECT_EQ(rank.step_ends(three).only<TokenBatch>(rank.streams).rows.front().first, 0u);
  EXPECT_EQ(rank.planned(1)->start, 12u);
  const RowTokens next = rank.step_ends(three).only<TokenBatch>(rank.streams).rows.front();
  EXPECT_EQ(next.first, 3u);
  EXPECT_EQ(next.tokens.size(), 3u);
}

TEST(RankResults, TokensAfterAStopIdOrTheLimitAreCutOff) {
  RankDriver rank;
  SubmitRow submit = rank.row(1, 10, 9);
  submit.stop_ids = {TokenId(2)};
  rank.hears(submit);
  const auto four = [](RowResult& row) { bring(row, {1, 2, 3, 4}); };
  const RowTokens stopped = rank.step_ends(four).only<TokenBatch>(rank.streams).rows.front();
  EXPECT_EQ(stopped.tokens.size(), 2u);
  EXPECT_EQ(stopped.finish, Finish::kStop);

  RankDriver short_rank;
  short_rank.submits(1, 10, 3);
  const RowTokens full =
      short_rank.step_ends(four).only<TokenBatch>(short_rank.streams).rows.front();
  EXPECT_EQ(full.tokens.size(), 3u);
  EXPECT_EQ(full.finish, Finish::kLength);
}

TEST(RankResults, AStepWithoutATokenSendsNothingAndTheRowGoesOn) {
  RankDriver rank(synchronous());
  rank.submits(1, 10, 9);
  const Turn turn = rank.step_ends([](RowResult& row) { bring(row, {}); });
  EXPECT_EQ(turn.count<TokenBatch>(), 0u);
  ASSERT_NE(rank.planned(1), nullptr);
  EXPECT_EQ(rank.step_ends().only<TokenBatch>(rank.streams).rows.front().first, 0u);
}

TEST(RankResults, TheDevicesOwnEndsReachTheClient) {
  const std::pair<RowEnd, Finish> ends[] = {{RowEnd::kStop, Finish::kStop},
                                            {RowEnd::kLength, Finish::kLength},
                                            {RowEnd::kFailed, Finish::kFailed}};
  for (const auto& [end, finish] : ends) {
    RankDriver rank;
    rank.submits(1, 10, 9);
    const Turn turn = rank.step_ends([end = end](RowResult& row) {
      row.end = end;
      row.code = Code::kLost;
      row.error = "scripted";
    });
    const RowTokens last = turn.only<TokenBatch>(rank.streams).rows.front();
    EXPECT_EQ(last.finish, finish);
    if (finish != Finish::kFailed) continue;
    EXPECT_EQ(last.code, Code::kLost);
    EXPECT_EQ(last.error, "scripted");
  }
}

TEST(RankResults, AStreamTableGetsOneBatchAStepWithAllItsRows) {
  RankDriver rank(synchronous());
  rank.submits(1, 10, 9);
  rank.submits(2, 10, 9);
  SubmitRow elsewhere = rank.row(3, 10, 9);
  elsewhere.streams = actor(51);
  rank.hears(elsewhere);
  rank.step_ends();  // request 1 was alone
  const Turn turn = rank.step_ends();
  EXPECT_EQ(turn.sent<TokenBatch>(rank.streams).size(), 1u);
  EXPECT_EQ(turn.sent<TokenBatch>(rank.streams).front().rows.size(), 2u);
  EXPECT_EQ(turn.sent<TokenBatch>(actor(51)).front().rows.size(), 1u);
  EXPECT_EQ(turn.sent<TokenBatch>(rank.streams).front().rank, rank.driver.self());
}

TEST(RankResults, LogprobsGoWithTheirTokens) {
  RankDriver rank;
  rank.submits(1, 10, 2);
  const Turn turn = rank.step_ends([](RowResult& row) {
    bring(row, {1, 2, 3});
    for (const TokenId token : row.tokens) row.logprobs.push_back({token, -0.5F, {}});
  });
  EXPECT_EQ(turn.only<TokenBatch>(rank.streams).rows.front().logprobs.size(), 2u);
}

TEST(RankCredits, AFullWindowPausesItsRowsUntilAnAcknowledgement) {
  RankLimits limits = synchronous();
  limits.unacked_batches_max = 2;
  RankDriver rank(limits);
  rank.submits(1, 10, 9);
  std::size_t batches = 0;
  std::optional<Time> guard;
  while (!rank.flying.empty()) {
    const Turn turn = rank.step_ends();
    batches += turn.count<TokenBatch>();
    if (const auto at = turn.timer({RankDriver::kCredits, rank.streams.local})) guard = at;
  }
  EXPECT_EQ(batches, 2u) << "the window";
  EXPECT_EQ(guard, rank.driver.now() + seconds(1));
  EXPECT_TRUE(rank.acknowledges(1).cancels_timer({RankDriver::kCredits, rank.streams.local}));
  EXPECT_EQ(rank.flying.size(), 1u);
}

TEST(RankCredits, EveryQuarterOfTheWindowAsksForThemBack) {
  RankLimits limits = synchronous();
  limits.unacked_batches_max = 8;
  RankDriver rank(limits);
  rank.submits(1, 10, 9);
  std::string asked;
  while (!rank.flying.empty() && asked.size() < 8) {
    for (const auto& batch : rank.step_ends().sent<TokenBatch>(rank.streams)) {
      asked += batch.acknowledge ? 'y' : 'n';
    }
  }
  EXPECT_EQ(asked, "nynynyny");
}

TEST(RankCredits, LostAcknowledgementsAreGivenUpWhenTheTimerFires) {
  RankLimits limits = synchronous();
  limits.unacked_batches_max = 1;
  RankDriver rank(limits);
  rank.submits(1, 10, 9);
  while (!rank.flying.empty()) rank.step_ends();
  const Turn turn = rank.hears(TimerFired{{RankDriver::kCredits, rank.streams.local}});
  EXPECT_EQ(turn.metric("troupe_rank_credits_lost_total"), 1.0);
  EXPECT_EQ(rank.flying.size(), 1u);
}

TEST(RankCredits, AnotherStreamTablesAcknowledgementDoesNotCount) {
  RankLimits limits = synchronous();
  limits.unacked_batches_max = 1;
  RankDriver rank(limits);
  rank.submits(1, 10, 9);
  while (!rank.flying.empty()) rank.step_ends();
  rank.hears(BatchTaken{99}, from(actor(51)));
  EXPECT_TRUE(rank.flying.empty());
}

}  // namespace
}  // namespace troupe
