// Engines and instances by calling them: what is in a step, what its end means, what leaves.
#include "actors/pd/decode_instance_core.hpp"
#include "actors/pd/group_host_core.hpp"
#include "actors/pd/prefill_engine_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {
namespace {

const ActorRef kBalancer = actor(91);
const ActorRef kDecodeBalancer = actor(92);
const ActorRef kGroupStreams = actor(94);
const ActorRef kGroupRoute = actor(95);

std::shared_ptr<const GroupPlan> launched(const Turn& turn) {
  const auto launches = turn.all<effect::LaunchStep>();
  EXPECT_EQ(launches.size(), 1u) << turn.story();
  return launches.empty() ? std::make_shared<GroupPlan>() : launches.front().plan->group;
}

Done<StepResult> done(GroupResult result, Duration took = milliseconds(30)) {
  Done<StepResult> done;
  done.op = OpId(1);
  done.output.device_time = took;
  done.output.group.result = std::make_shared<const GroupResult>(std::move(result));
  return done;
}

class EngineTest : public testing::Test {
 protected:
  static PrefillEngineCore::Args args() {
    PrefillEngineCore::Args args;
    args.members = 2;
    args.fit = false;
    args.budget = milliseconds(60);  // 3,456 tokens in whole blocks
    args.balancer = kBalancer;
    args.decode_balancer = kDecodeBalancer;
    return args;
  }
  Turn starts(std::uint64_t request, std::uint32_t member, std::uint32_t length) {
    StartPrefill start;
    start.request = RequestId(request);
    start.member = member;
    start.generation = 3;
    start.length = length;
    start.streams = kGroupStreams;
    start.time_left = seconds(5);
    return engine.hears(start, from(kGroupRoute));
  }
  CoreDriver<PrefillEngineCore> engine{args()};
};

TEST_F(EngineTest, JoinsOnceForEachRank) {
  const auto joined = engine.starts().only<PrefillEngineJoined>(kBalancer);
  EXPECT_EQ(joined.ranks, (std::vector{engine.self(), engine.self()}));
}

TEST_F(EngineTest, AStepHoldsWhatFitsAndTheRestFollows) {
  const auto first = launched(starts(1, 0, 5'000));
  ASSERT_EQ(first->chunks.size(), 1u);
  EXPECT_EQ(first->chunks[0].tokens, 3'456u);
  EXPECT_FALSE(first->chunks[0].last);
  EXPECT_TRUE(starts(2, 1, 100).all<effect::LaunchStep>().empty()) << "a step is in flight";
  const Turn next = engine.hears(done({{milliseconds(30), Duration()}, {}, 3'456}));
  const auto advanced = next.only<PrefillAdvanced>(kBalancer);
  ASSERT_EQ(advanced.rows.size(), 1u);
  EXPECT_EQ(advanced.rows[0].computed, 3'456u);
  EXPECT_EQ(advanced.rows[0].generation, 3u);
  EXPECT_EQ(launched(next)->chunks.size(), 2u) << "both ranks step together";
  const auto reserve = next.only<ReserveDecode>(kDecodeBalancer);
  EXPECT_EQ(reserve.rows.size(), 2u) << "both prompts have their last chunk in it";
  EXPECT_EQ(reserve.owner, kGroupRoute);
  const Turn last = engine.hears(done({{milliseconds(30), milliseconds(25)}, {}, 1'644}));
  EXPECT_EQ(last.only<TokenBatch>(kGroupStreams).rows.size(), 2u);
  EXPECT_EQ(last.only<TokenBatch>(kGroupStreams).rank, kGroupRoute);
  EXPECT_EQ(last.only<PrefillEnded>(kGroupRoute).rows.size(), 2u);
  EXPECT_TRUE(last.all<effect::LaunchStep>().empty());
  EXPECT_EQ(engine.core().jobs(), 0u);
}

TEST_F(EngineTest, AnAnswerOfOneTokenIsComplete) {
  starts(1, 1, 200);
  const Turn turn =
      engine.hears(done({{Duration(), milliseconds(30)}, {{RequestId(1), 1, 1}}, 200}));
  EXPECT_TRUE(turn.only<PrefillEnded>(kGroupRoute).rows.at(0).complete);
  EXPECT_EQ(turn.only<TokenBatch>(kGroupStreams).rows.at(0).finish, Finish::kStop);
}

TEST_F(EngineTest, WhatWasStoppedIsDropped) {
  starts(1, 0, 200);
  starts(2, 0, 200);
  engine.hears(StopPrefill{RequestId(1)}, from(kGroupRoute));
  engine.hears(StopPrefill{RequestId(2)}, from(kGroupRoute));
  const Turn turn = engine.hears(done({{milliseconds(30), Duration()}, {}, 200}));
  EXPECT_TRUE(turn.silent());
  EXPECT_TRUE(turn.all<effect::LaunchStep>().empty());
  starts(3, 0, 200);
  engine.hears_of_end(kGroupRoute);
  EXPECT_EQ(engine.core().jobs(), 0u);
}

TEST_F(EngineTest, JoinsAgainUntilItGetsWork) {
  constexpr TimerTag kJoinTag{1, 0};
  const Turn joined = engine.starts();
  EXPECT_EQ(joined.timer(kJoinTag), engine.now() + PrefillEngineCore::kJoinAgain);
  EXPECT_EQ(engine.timer_fires(kJoinTag).count<PrefillEngineJoined>(), 1u);
  starts(1, 0, 200);
  const Turn known = engine.timer_fires(kJoinTag);
  EXPECT_TRUE(known.silent());
  EXPECT_FALSE(known.timer(kJoinTag));
}

TEST_F(EngineTest, SaysWhatItHasAndConfirmsStops) {
  starts(1, 0, 200);
  EXPECT_TRUE(
      engine.hears(AskGroup{RequestId(1)}, from(kGroupRoute)).only<GroupHas>(kGroupRoute).here);
  EXPECT_FALSE(
      engine.hears(AskGroup{RequestId(2)}, from(kGroupRoute)).only<GroupHas>(kGroupRoute).here);
  const Turn stopped = engine.hears(StopPrefill{RequestId(2)}, from(kGroupRoute));
  EXPECT_EQ(stopped.only<GroupStopped>(kGroupRoute).request, RequestId(2));
}

TEST_F(EngineTest, ASecondStartReplacesTheFirst) {
  starts(1, 0, 200);
  starts(2, 0, 5'000);
  starts(2, 1, 5'000);
  EXPECT_EQ(engine.core().jobs(), 2u);
  EXPECT_EQ(engine.core().queued(), 1u) << "the first prompt is in the step";
}

TEST_F(EngineTest, APromptThatStartsAgainInItsLastStepLeavesNothingBehind) {
  starts(1, 0, 200);
  starts(1, 1, 200);
  EXPECT_EQ(engine.core().queued(), 1u);
  const Turn turn = engine.hears(done({{milliseconds(30), Duration()}, {}, 200}));
  EXPECT_EQ(turn.only<PrefillEnded>(kGroupRoute).rows.size(), 1u);
  EXPECT_EQ(engine.core().jobs(), 0u);
  EXPECT_EQ(engine.core().queued(), 0u) << "a FIFO holds no request that is not known";
  EXPECT_TRUE(turn.all<effect::LaunchStep>().empty());
}

TEST_F(EngineTest, AFailedStepEndsTheEngine) {
  starts(1, 0, 200);
  Done<StepResult> failed;
  failed.failed = true;
  failed.error = {Code::kHung, "no answer"};
  EXPECT_TRUE(engine.hears(failed).crashes());
}

class InstanceTest : public testing::Test {
 protected:
  static DecodeInstanceCore::Args args() {
    DecodeInstanceCore::Args args;
    args.members = 2;
    args.blocks = 100;
    args.rows_most = 4;
    args.drafts.rule = DraftRule::kFixed;
    args.balancer = kDecodeBalancer;
    return args;
  }
  Turn starts(std::uint64_t request, std::uint32_t member) {
    StartDecode start;
    start.request = RequestId(request);
    start.member = member;
    start.generation = 2;
    start.context = 1'000;
    start.generated = 1;
    start.streams = kGroupStreams;
    return instance.hears(start, from(kGroupRoute));
  }
  CoreDriver<DecodeInstanceCore> instance{args()};
};

TEST_F(InstanceTest, RowsEnterAtTheNextStep) {
  EXPECT_EQ(instance.starts().only<DecodeInstanceJoined>(kDecodeBalancer).ranks.size(), 2u);
  const Turn turn = starts(1, 0);
  EXPECT_EQ(turn.only<DecodeStarted>(kDecodeBalancer).rows.at(0).generation, 2u);
  const auto first = launched(turn);
  EXPECT_TRUE(first->reset) << "the first step of a life";
  EXPECT_EQ(first->enters.size(), 1u);
  EXPECT_EQ(first->drafts, (std::vector<float>{5, 0}));
  const Turn waits = starts(2, 1);
  EXPECT_TRUE(waits.all<effect::LaunchStep>().empty());
  EXPECT_EQ(waits.count<DecodeStarted>(), 0u) << "the balancer hears of a step's starts together";
  starts(3, 1);
  const Turn next = instance.hears(done({{milliseconds(10), Duration()}, {}, 3}));
  EXPECT_EQ(next.only<DecodeStarted>(kDecodeBalancer).rows.size(), 2u);
  const auto second = launched(next);
  EXPECT_FALSE(second->reset);
  EXPECT_EQ(second->enters.size(), 2u);
  EXPECT_EQ(second->drafts, (std::vector<float>{5, 5}));
}

TEST_F(InstanceTest, EachRouteHearsOfItsOwnEndsInOneMessage) {
  const ActorRef other{NodeId(9), 1, 99, 1};
  starts(1, 0);
  starts(2, 1);
  StartDecode start;
  start.request = RequestId(3);
  start.member = 1;
  start.streams = kGroupStreams;
  instance.hears(start, from(other));
  const GroupResult result{{milliseconds(10), milliseconds(10)},
                           {{RequestId(1), 0, 9}, {RequestId(3), 1, 9}, {RequestId(2), 1, 9}},
                           3};
  const Turn turn = instance.hears(done(result));
  const auto own = turn.sent<DecodeEnded>(kGroupRoute);
  ASSERT_EQ(own.size(), 1u);
  ASSERT_EQ(own[0].rows.size(), 2u);
  EXPECT_EQ(own[0].rows[1].request, RequestId(2));
  ASSERT_EQ(turn.sent<DecodeEnded>(other).size(), 1u);
  EXPECT_EQ(turn.sent<DecodeEnded>(other)[0].rows.size(), 1u);
}

TEST_F(InstanceTest, TheEndOfARouteTakesItsRowsOutAndItIsWatchedAnew) {
  EXPECT_TRUE(starts(1, 0).watches(kGroupRoute));
  EXPECT_FALSE(starts(2, 1).watches(kGroupRoute)) << "once is enough";
  const Turn down = instance.hears_of_end(kGroupRoute);
  EXPECT_EQ(instance.core().rows(), 0u);
  EXPECT_EQ(down.count<DecodeEnded>(), 0u);
  EXPECT_TRUE(starts(3, 0).watches(kGroupRoute)) << "only its node was cut off";
}

TEST_F(InstanceTest, ARouteWithTwoStreamTablesIsToldOfEach) {
  const ActorRef others = actor(97);
  starts(1, 0);
  StartDecode start;
  start.request = RequestId(2);
  start.member = 1;
  start.generated = 1;
  start.streams = others;
  instance.hears(start, from(kGroupRoute));
  // The first pair has no row any more, and its place is another's.
  instance.hears(StopDecode{RequestId(1)}, from(kGroupRoute));
  start.request = RequestId(3);
  start.streams = actor(98);
  EXPECT_TRUE(instance.hears(start, from(actor(99))).watches(actor(99)));
  instance.hears(done({{milliseconds(10), milliseconds(10)}, {}, 3}));
  const Turn turn = instance.hears(done(
      {{milliseconds(10), milliseconds(10)}, {{RequestId(2), 1, 9}, {RequestId(3), 1, 9}}, 3}));
  for (const auto& [streams, request] : {std::pair(others, 2u), std::pair(actor(98), 3u)}) {
    const auto batches = turn.sent<TokenBatch>(streams);
    ASSERT_EQ(batches.size(), 1u);
    EXPECT_EQ(batches[0].rows.at(0).request, RequestId(request));
  }
  EXPECT_EQ(turn.sent<DecodeEnded>(kGroupRoute).size(), 1u);
  EXPECT_EQ(turn.sent<DecodeEnded>(actor(99)).size(), 1u);
}

TEST_F(InstanceTest, EndsComeInOneBatchWithAllTokens) {
  starts(1, 0);
  const Turn turn =
      instance.hears(done({{milliseconds(10), Duration()}, {{RequestId(1), 0, 49}}, 3}));
  const auto row = turn.only<TokenBatch>(kGroupStreams).rows.at(0);
  EXPECT_EQ(row.first, 1u);
  EXPECT_EQ(row.count(), 49u);
  EXPECT_EQ(turn.only<DecodeEnded>(kGroupRoute).rows.at(0).output, 50u);
  EXPECT_TRUE(turn.all<effect::LaunchStep>().empty()) << "nothing is left";
}

TEST_F(InstanceTest, RowsThatLeaveAreToldToTheDevice) {
  starts(1, 0);
  starts(2, 1);
  starts(3, 1);
  instance.hears(StopDecode{RequestId(1)}, from(kGroupRoute));
  instance.hears(StopDecode{RequestId(2)}, from(kGroupRoute));
  const Turn turn =
      instance.hears(done({{milliseconds(10), Duration()}, {{RequestId(1), 0, 49}}, 3}));
  EXPECT_EQ(turn.count<DecodeEnded>(), 0u);
  const auto next = launched(turn);
  ASSERT_EQ(next->leaves.size(), 1u);
  EXPECT_EQ(next->leaves[0].request, RequestId(1));
  ASSERT_EQ(next->enters.size(), 1u) << "one of the two left before it entered";
  EXPECT_EQ(next->enters[0].request, RequestId(3));
}

TEST_F(InstanceTest, RefusesRowsBeyondItsMost) {
  for (std::uint64_t request = 1; request <= 4; ++request) starts(request, 0);
  const Turn turn = starts(5, 0);
  EXPECT_EQ(turn.only<DecodeRefused>(kGroupRoute).request, RequestId(5));
  EXPECT_EQ(turn.count<DecodeStarted>(), 0u);
  EXPECT_EQ(instance.core().rows_of(0), 4u);
}

TEST_F(InstanceTest, ASecondStartReplacesTheFirstWhoseEndIsNotItsOwn) {
  starts(1, 0);
  starts(1, 1);
  EXPECT_EQ(instance.core().rows(), 1u);
  const Turn turn =
      instance.hears(done({{milliseconds(10), Duration()}, {{RequestId(1), 0, 49}}, 3}));
  EXPECT_EQ(turn.count<DecodeEnded>(), 0u) << "the end of the row that was replaced";
  const auto next = launched(turn);
  ASSERT_EQ(next->leaves.size(), 1u);
  EXPECT_EQ(next->leaves[0].request, RequestId(1));
  EXPECT_EQ(next->enters.size(), 1u);
  const Turn end =
      instance.hears(done({{milliseconds(10), Duration()}, {{RequestId(1), 1, 49}}, 3}));
  EXPECT_EQ(end.only<DecodeEnded>(kGroupRoute).rows.at(0).output, 50u);
}

TEST_F(InstanceTest, AnEndOfARowThatWasStoppedIsNotItsNextLifes) {
  starts(1, 0);
  instance.hears(StopDecode{RequestId(1)}, from(kGroupRoute));
  starts(1, 1);
  const Turn turn =
      instance.hears(done({{milliseconds(10), Duration()}, {{RequestId(1), 0, 49}}, 3}));
  EXPECT_EQ(turn.count<DecodeEnded>(), 0u);
  EXPECT_EQ(instance.core().rows(), 1u);
  EXPECT_EQ(launched(turn)->enters.size(), 1u);
}

TEST(GroupHost, StartsAgainAfterItsMinutes) {
  GroupHostCore::Args args;
  args.group = PrefillEngineCore::Args();
  args.start_up = seconds(100);
  args.start_spread = seconds(10);
  CoreDriver<GroupHostCore> host(args);
  const auto born = host.starts().all<effect::Spawn>();
  ASSERT_EQ(born.size(), 1u);
  const Turn died = host.hears_of_end(born[0].ref);
  EXPECT_TRUE(died.all<effect::Spawn>().empty());
  ASSERT_TRUE(died.timer({1, 0}));
  EXPECT_GE(*died.timer({1, 0}), host.now() + seconds(100));
  EXPECT_LE(*died.timer({1, 0}), host.now() + seconds(110));
  const auto again = host.timer_fires({1, 0}).all<effect::Spawn>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].ref.life, 2u);
  args.up_already = false;
  CoreDriver<GroupHostCore> cold(args);
  EXPECT_TRUE(cold.starts().all<effect::Spawn>().empty());
}

}  // namespace
}  // namespace troupe
