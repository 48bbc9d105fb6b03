// The prefill balancer's protocol: owners, engines, deadlines, rounds.
#include "actors/prefill_balancer/prefill_balancer_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {
namespace {

const ActorRef kPrefillNode = actor(90);
constexpr TimerTag kPrefillRound{0, 0};
constexpr TimerTag kPrefillDeadline{1, 0};
constexpr TimerTag kSilenceOfFirst{2, 0};

class PrefillBalancerTest : public testing::Test {
 protected:
  static PrefillBalancerCore::Args args(PrefillRule rule = PrefillRule::kBuckets) {
    PrefillBalancerCore::Args args;
    args.rule = rule;
    args.curve = PrefillCurve{0, 1'000, 0};
    args.push.cache_blocks = 1'000;
    args.buckets.most = milliseconds(300);
    args.waiting_most = 20;
    return args;
  }
  /// Engine 50 has ranks 51 and 52.
  Turn joins(std::uint64_t engine, std::uint32_t life = 1, bool announces = false) {
    return driver.hears(
        PrefillEngineJoined{
            actor(engine, life), {actor(engine + 1, life), actor(engine + 2, life)}, announces},
        from(kPrefillNode));
  }
  static ActorRef owner(std::uint64_t request) { return actor(1'000 + request); }
  Turn submits(std::uint64_t request, std::uint32_t length = 1'000, std::uint32_t hit = 0,
               Duration left = seconds(60)) {
    return driver.hears(SubmitPrefill{RequestId(request), owner(request), length, hit, 0, {}, left},
                        from(owner(request)));
  }
  Turn advances(std::uint64_t engine, std::uint64_t request, std::uint32_t computed,
                std::uint32_t generation = 1) {
    return driver.hears(
        PrefillAdvanced{actor(engine), {{RequestId(request), generation, computed}}},
        from(actor(engine)));
  }
  std::size_t jobs() const { return driver.core().pool().jobs(); }
  std::size_t waiting() const { return driver.core().policy().waiting(); }

  CoreDriver<PrefillBalancerCore> driver{args()};
};

TEST_F(PrefillBalancerTest, AnEngineWithRoomTakesARequestAtOnce) {
  joins(50);
  const Turn turn = submits(1, 5'000, 2'048);
  const auto assigned = turn.only<PrefillAssigned>(owner(1));
  EXPECT_EQ(assigned.engine, actor(50));
  EXPECT_EQ(assigned.hit, 2'048u);
  EXPECT_EQ(assigned.generation, 1u);
  EXPECT_TRUE(turn.watches(owner(1)));
  EXPECT_NE(submits(2).only<PrefillAssigned>(owner(2)).rank, assigned.rank) << "the idler rank";
}

TEST_F(PrefillBalancerTest, TheOthersFollowAsStepsAreDone) {
  joins(50);
  submits(1, 300'000);
  submits(2, 300'000);
  EXPECT_TRUE(submits(3, 300'000).silent());
  EXPECT_TRUE(submits(4, 300'000).silent()) << "both ranks have the same";
  const Turn turn = advances(50, 1, 250'000);
  EXPECT_EQ(turn.only<PrefillAssigned>(owner(3)).engine, actor(50));
  EXPECT_EQ(waiting(), 1u) << "350 and 300 ms";
  advances(50, 2, 300'000);
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(PrefillBalancerTest, ADoneRequestIsForgotten) {
  joins(50);
  submits(1);
  EXPECT_TRUE(advances(50, 1, 1'000).unwatches(owner(1)));
  EXPECT_EQ(jobs(), 0u);
  EXPECT_TRUE(advances(50, 1, 1'000).silent());
  EXPECT_EQ(driver.core().pool().total_load(), Duration());
}

TEST_F(PrefillBalancerTest, TheEndOfItsOwnerEndsItsWorkInEveryState) {
  submits(1);
  EXPECT_EQ(waiting(), 1u);
  driver.hears_of_end(owner(1));
  EXPECT_EQ(jobs(), 0u);
  joins(50);
  submits(2, 400'000);
  submits(3, 400'000);
  submits(4);
  EXPECT_EQ(waiting(), 1u);
  EXPECT_EQ(
      driver.hears_of_end(owner(2), EndReason::kNodeLost).only<PrefillAssigned>(owner(4)).engine,
      actor(50));
  advances(50, 3, 200'000);
  driver.hears_of_end(owner(3));
  driver.hears(ReleasePrefill{{RequestId(4)}}, from(owner(4)));
  EXPECT_EQ(jobs(), 0u);
  EXPECT_EQ(driver.core().pool().total_load(), Duration());
}

TEST_F(PrefillBalancerTest, WorkOfALostRankComesBack) {
  joins(50);
  submits(1, 300'000);
  submits(2, 300'000);
  advances(50, 1, 200'000);
  const Turn lost = driver.hears_of_end(actor(52));
  EXPECT_TRUE(lost.silent());
  EXPECT_EQ(waiting(), 2u);
  const Turn joined = joins(60);
  ASSERT_EQ(joined.count<PrefillAssigned>(), 2u);
  EXPECT_EQ(joined.sent<PrefillAssigned>(owner(1)).front().generation, 2u);
  advances(50, 1, 300'000);
  advances(60, 1, 300'000, 1);
  EXPECT_EQ(jobs(), 2u) << "words about earlier tries";
  advances(60, 1, 300'000, 2);
  EXPECT_EQ(jobs(), 1u);
}

// Case routing-05: a late word about an earlier life of an engine.
TEST_F(PrefillBalancerTest, Routing05OldLivesHaveNoEffect) {
  joins(50, 1);
  driver.hears_of_end(actor(51, 1));
  joins(50, 2);
  driver.hears(PrefillEngineLeft{actor(50, 1)}, from(kPrefillNode));
  driver.hears_of_end(actor(52, 1));
  EXPECT_EQ(submits(1).only<PrefillAssigned>(owner(1)).engine, actor(50, 2));
}

// Case routing-06: an engine announces reports of its cache and sends none.
TEST_F(PrefillBalancerTest, Routing06SilenceOfAnEngineThatAnnouncedReportsIsTold) {
  CoreDriver<PrefillBalancerCore> pushing{args(PrefillRule::kCost)};
  pushing.hears(PrefillEngineJoined{actor(50), {actor(51)}, true}, from(kPrefillNode));
  pushing.passes(seconds(10));
  const Turn turn = pushing.timer_fires(kSilenceOfFirst);
  EXPECT_EQ(turn.metric("troupe_prefix_reports_missing"), 1);
  EXPECT_EQ(turn.metric("prefix_reports_missing"), 0) << "the warning";
  const auto later = pushing.hears(PrefixBlocksChanged{actor(50), {1, 2}, {}}, from(actor(50)));
  EXPECT_EQ(later.metric("troupe_prefix_reports_missing"), 0);
  EXPECT_EQ(joins(50, 1, true).timer(kSilenceOfFirst), driver.now() + seconds(10));
  driver.hears(PrefixBlocksChanged{actor(50), {1}, {}}, from(actor(50)));
  EXPECT_FALSE(driver.timer_fires(kSilenceOfFirst).metric("troupe_prefix_reports_missing"));
}

TEST_F(PrefillBalancerTest, WaitingHasADeadlineAndAnAssignmentEndsIt) {
  EXPECT_EQ(submits(1, 1'000, 0, seconds(2)).timer(kPrefillDeadline), driver.now() + seconds(2));
  submits(2, 1'000, 0, seconds(5));
  driver.passes(seconds(2));
  const Turn fired = driver.timer_fires(kPrefillDeadline);
  EXPECT_EQ(fired.only<PrefillRefused>(owner(1)).code, Code::kDeadline);
  EXPECT_EQ(fired.timer(kPrefillDeadline), driver.now() + seconds(3));
  joins(50);
  driver.passes(seconds(3));
  EXPECT_TRUE(driver.timer_fires(kPrefillDeadline).silent());
  EXPECT_EQ(jobs(), 1u);
}

TEST_F(PrefillBalancerTest, RoundsGoOn) {
  CoreDriver<PrefillBalancerCore> fresh{args()};
  EXPECT_EQ(fresh.starts().timer(kPrefillRound), fresh.now() + seconds(1));
  EXPECT_EQ(fresh.timer_fires(kPrefillRound).timer(kPrefillRound), fresh.now() + seconds(1));
}

TEST_F(PrefillBalancerTest, BadMessagesGetAnAnswerOrNone) {
  EXPECT_EQ(submits(0).only<PrefillRefused>(owner(0)).code, Code::kInvalid);
  EXPECT_EQ(submits(1, 100, 100).only<PrefillRefused>(owner(1)).code, Code::kInvalid);
  EXPECT_EQ(submits(1, ~0u, 0).only<PrefillRefused>(owner(1)).code, Code::kInvalid);
  EXPECT_TRUE(driver.hears(SubmitPrefill{}, from(kPrefillNode)).silent());
  for (std::uint64_t id = 1; id <= 20; ++id) EXPECT_TRUE(submits(id).silent());
  EXPECT_EQ(submits(20).only<PrefillRefused>(owner(20)).code, Code::kInvalid) << "twice";
  EXPECT_EQ(submits(21).only<PrefillRefused>(owner(21)).code, Code::kUnavailable);
  joins(50);
  EXPECT_EQ(
      driver.hears(PrefillEngineJoined{actor(70), {actor(52)}, false}).all<effect::Note>().size(),
      1u);
  EXPECT_EQ(driver.core().pool().engines().size(), 1u);
  EXPECT_EQ(driver.hears(PrefillCurveLearned{1, -1, 0}).all<effect::Note>().size(), 1u);
  EXPECT_EQ(driver.core().pool().curve().b, 1'000);
  driver.hears(PrefillCurveLearned{5e6, 2'000, 0.5});
  EXPECT_EQ(driver.core().pool().curve().b, 2'000);
}

TEST_F(PrefillBalancerTest, ADrainEndsItWhenNothingIsLeft) {
  joins(50);
  submits(1);
  EXPECT_FALSE(driver.hears(Drain{seconds(5)}).stops());
  EXPECT_EQ(submits(2).only<PrefillRefused>(owner(2)).code, Code::kUnavailable);
  EXPECT_TRUE(advances(50, 1, 1'000).stops());
}

}  // namespace
}  // namespace troupe
