// The decode balancer's protocol: owners, ranks, deadlines; and the routing cases that it answers.
#include "actors/decode_balancer/decode_balancer_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {
namespace {

const ActorRef kNode = actor(90);
const ActorRef kInstance = actor(80);
constexpr TimerTag kRoundTag{0, 0};
constexpr TimerTag kDeadlineTag{1, 0};
constexpr TimerTag kAgeTag{2, 0};

class DecodeBalancerTest : public testing::Test {
 protected:
  static DecodeBalancerCore::Args args() {
    DecodeBalancerCore::Args args;
    args.limits.headroom_blocks = 0;
    args.limits.hold = seconds(5);
    return args;
  }
  void joins(const ActorRef& instance, std::vector<std::uint64_t> ranks,
             std::uint32_t blocks = 1'000) {
    DecodeInstanceJoined joined;
    joined.instance = instance;
    for (const auto rank : ranks) joined.ranks.push_back({actor(rank), blocks, 8});
    driver.hears(joined, from(kNode));
  }
  /// The request's owner is actor 1000 + its number.
  static ActorRef owner(std::uint64_t request) { return actor(1'000 + request); }
  Turn reserves(std::uint64_t request, std::uint64_t context = 1'000, Duration left = seconds(60)) {
    return driver.hears(
        ReserveDecode{owner(request), {{RequestId(request), context, 100, 0, left}}},
        from(owner(request)));
  }
  Turn round() { return driver.timer_fires(kRoundTag); }
  /// Its rank, after a round of its own.
  ActorRef placed(std::uint64_t request, std::uint64_t context = 1'000) {
    reserves(request, context);
    return round().only<DecodeReserved>(owner(request)).rows.at(0).rank;
  }
  std::uint64_t held() const { return driver.core().placer().tickets(); }

  CoreDriver<DecodeBalancerCore> driver{args()};
};

TEST_F(DecodeBalancerTest, ARoundFollowsWithinATick) {
  joins(kInstance, {1, 2});
  const Turn asked = reserves(7);
  EXPECT_TRUE(asked.silent());
  EXPECT_TRUE(asked.watches(owner(7)));
  EXPECT_EQ(asked.timer(kRoundTag), driver.now() + milliseconds(1));
  EXPECT_EQ(reserves(8).timer(kRoundTag), std::nullopt) << "one is due already";
  const Turn turn = round();
  EXPECT_EQ(turn.count<DecodeReserved>(), 2u);
  EXPECT_NE(turn.sent<DecodeReserved>(owner(7)).front().rows.at(0).rank,
            turn.sent<DecodeReserved>(owner(8)).front().rows.at(0).rank);
}

TEST_F(DecodeBalancerTest, AnOwnerOfManyIsWatchedOnceAndItsEndFreesAll) {
  joins(kInstance, {1, 2});
  const ActorRef route = actor(700);
  const auto reserve = [&](std::uint64_t request) {
    return driver.hears(ReserveDecode{route, {{RequestId(request), 1'000, 100, 0, seconds(60)}}},
                        from(route));
  };
  EXPECT_TRUE(reserve(1).watches(route));
  EXPECT_FALSE(reserve(2).watches(route));
  EXPECT_EQ(round().only<DecodeReserved>(route).rows.size(), 2u);
  EXPECT_FALSE(driver.hears(ReleaseDecode{{{RequestId(1), 5}}}, from(route)).unwatches(route));
  reserve(3);
  EXPECT_EQ(held(), 2u);
  driver.hears_of_end(route);
  EXPECT_EQ(held(), 0u);
}

TEST_F(DecodeBalancerTest, ManyThatWaitArePlacedAtOnce) {
  joins(kInstance, {1, 2, 3});
  for (std::uint64_t id = 1; id < 16; ++id) EXPECT_TRUE(reserves(id).silent());
  EXPECT_EQ(reserves(16).count<DecodeReserved>(), 16u);
}

TEST_F(DecodeBalancerTest, TheEndOfItsOwnerFreesAReservationInEveryState) {
  joins(kInstance, {1});
  reserves(1);
  driver.hears_of_end(owner(1));  // waiting
  EXPECT_EQ(held(), 0u);
  placed(2);
  driver.hears_of_end(owner(2), EndReason::kKilled);  // held
  EXPECT_EQ(held(), 0u);
  placed(3);
  driver.hears(DecodeStarted{{{RequestId(3), 1}}}, from(actor(1)));
  driver.hears_of_end(owner(3), EndReason::kNodeLost);  // started
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(driver.core().placer().pool().tokens(), 0u);
}

TEST_F(DecodeBalancerTest, AnEndMakesRoomForWhoWaits) {
  joins(kInstance, {1}, 10);
  placed(1, 1'100);
  reserves(2, 1'100);
  EXPECT_TRUE(round().silent());
  const Turn released = driver.hears(ReleaseDecode{{{RequestId(1), 50}}}, from(owner(1)));
  EXPECT_TRUE(released.unwatches(owner(1)));
  EXPECT_EQ(released.timer(kRoundTag), driver.now() + milliseconds(1));
  EXPECT_EQ(round().only<DecodeReserved>(owner(2)).rows.at(0).rank, actor(1));
}

TEST_F(DecodeBalancerTest, ALostRankEndsItsInstanceAndItsWorkComesBack) {
  joins(kInstance, {1, 2});
  placed(1);
  placed(2);
  driver.hears(DecodeStarted{{{RequestId(1), 1}}}, from(actor(1)));
  joins(actor(81), {3});
  const Turn lost = driver.hears_of_end(actor(2), EndReason::kNodeLost);
  EXPECT_EQ(lost.only<DecodeReservationLost>(owner(1)).code, Code::kLost);
  EXPECT_EQ(driver.core().placer().pool().size(), 1u);
  const auto again = round().only<DecodeReserved>(owner(2)).rows.at(0);
  EXPECT_EQ(again.rank, actor(3));
  EXPECT_EQ(again.generation, 2u);
  driver.hears(DecodeStarted{{{RequestId(2), 1}}}, from(actor(2)));  // late word of the lost one
  driver.passes(seconds(5));
  const Turn ended = driver.timer_fires(kDeadlineTag);
  EXPECT_EQ(ended.only<DecodeReservationLost>(owner(2)).code, Code::kDeadline);
}

TEST_F(DecodeBalancerTest, WhoFindsNoRoomInTimeIsTold) {
  const Turn asked = reserves(1, 1'000, seconds(3));
  EXPECT_EQ(asked.timer(kDeadlineTag), driver.now() + seconds(3));
  driver.passes(seconds(3));
  EXPECT_EQ(driver.timer_fires(kDeadlineTag).only<DecodeNotReserved>(owner(1)).code,
            Code::kDeadline);
  EXPECT_EQ(held(), 0u);
}

TEST_F(DecodeBalancerTest, ADrainingInstanceGetsNothingNew) {
  joins(kInstance, {1});
  joins(actor(81), {2});
  driver.hears(DecodeInstanceDrains{kInstance, true}, from(kNode));
  for (std::uint64_t id = 1; id <= 4; ++id) EXPECT_EQ(placed(id), actor(2));
  driver.hears(DecodeInstanceDrains{kInstance, false}, from(kNode));
  EXPECT_EQ(placed(5), actor(1));
}

TEST_F(DecodeBalancerTest, OutputsAreReservedAsTheirClassProducesThem) {
  joins(kInstance, {1}, 100'000);
  const auto tokens = [&] { return driver.core().placer().pool().tokens(); };
  driver.hears(ReserveDecode{owner(1), {{RequestId(1), 1'000, 0, 3, seconds(9)}}}, from(owner(1)));
  round();
  EXPECT_EQ(tokens(), 1'800u);
  driver.hears(ReleaseDecode{{{RequestId(1), 2'800}}}, from(owner(1)));
  driver.hears(ReserveDecode{owner(2), {{RequestId(2), 1'000, 0, 3, seconds(9)}}}, from(owner(2)));
  round();
  EXPECT_EQ(tokens(), 1'820u);
  driver.hears(ReserveDecode{owner(3), {{RequestId(3), 1'000, 5, 3, seconds(9)}}}, from(owner(3)));
  round();
  EXPECT_EQ(tokens(), 1'820u + 1'005u) << "its own bound is smaller";
}

TEST_F(DecodeBalancerTest, AQuestionThatIsAskedAgainCountsOnce) {
  joins(kInstance, {1, 2});
  reserves(1);
  EXPECT_TRUE(reserves(1).silent()) << "it waits";
  EXPECT_EQ(held(), 1u);
  const auto first = round().only<DecodeReserved>(owner(1)).rows.at(0);
  const auto second = reserves(1).only<DecodeReserved>(owner(1)).rows.at(0);
  EXPECT_EQ(second.rank, first.rank);
  EXPECT_EQ(second.generation, first.generation);
  driver.hears(DecodeStarted{{{RequestId(1), first.generation}}}, from(first.rank));
  EXPECT_TRUE(reserves(1).silent()) << "it has started";
}

TEST_F(DecodeBalancerTest, BadMessagesGetAnAnswerOrNone) {
  joins(kInstance, {1});
  EXPECT_EQ(reserves(0).only<DecodeNotReserved>(owner(0)).code, Code::kInvalid);
  reserves(1);
  const ReserveDecode again{owner(9), {{RequestId(1), 1'000, 100, 0, seconds(60)}}};
  EXPECT_EQ(driver.hears(again, from(owner(9))).only<DecodeNotReserved>(owner(9)).code,
            Code::kInvalid)
      << "another owner's";
  EXPECT_EQ(reserves(2, 1u << 30).only<DecodeNotReserved>(owner(2)).code, Code::kTooLarge);
  EXPECT_TRUE(driver.hears(ReserveDecode{}, from(kNode)).silent());
  EXPECT_TRUE(driver.hears(ReleaseDecode{{{RequestId(99), 1}}}, from(kNode)).silent());
  DecodeInstanceJoined thief;
  thief.instance = actor(82);
  thief.ranks = {{actor(1), 10, 1}};
  EXPECT_EQ(driver.hears(thief, from(kNode)).all<effect::Note>().size(), 1u);
  EXPECT_EQ(driver.core().placer().pool().size(), 1u);
}

TEST_F(DecodeBalancerTest, ADrainEndsItWhenNothingIsHeld) {
  joins(kInstance, {1});
  placed(1);
  EXPECT_FALSE(driver.hears(Drain{seconds(9)}).stops());
  EXPECT_EQ(reserves(2).only<DecodeNotReserved>(owner(2)).code, Code::kUnavailable);
  EXPECT_TRUE(driver.hears(ReleaseDecode{{{RequestId(1), 5}}}, from(owner(1))).stops());
}

// Case routing-03: of several balancers each sees its own share of the load only; six requests of
// 200K tokens go to two ranks. What the ranks report makes up for it, as long as it is fresh.
TEST_F(DecodeBalancerTest, Routing03LoadOfOtherBalancersCountsAndFades) {
  joins(kInstance, {1, 2}, 8'000);
  driver.hears(DecodeLoadReport{actor(1), 3, 600'000}, from(actor(1)));
  const Turn report = driver.hears(DecodeLoadReport{actor(2), 0, 0}, from(actor(2)));
  for (std::uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(placed(id, 200'000), actor(2)) << id;
  EXPECT_EQ(driver.core().placer().pool().at(GpuId(0)).all_tokens(), 600'000u);
  EXPECT_EQ(report.timer(kAgeTag), std::nullopt) << "armed by the first";
  for (int period = 0; period < 30; ++period) {
    driver.passes(seconds(2));
    driver.timer_fires(kAgeTag);
  }
  EXPECT_EQ(driver.core().placer().pool().at(GpuId(0)).all_tokens(), 0u)
      << "nothing was heard again";
  EXPECT_EQ(placed(4, 200'000), actor(1));
}

// Case routing-05: a word about an earlier life of a rank comes late.
TEST_F(DecodeBalancerTest, Routing05OldLivesHaveNoEffect) {
  DecodeInstanceJoined joined;
  joined.instance = kInstance;
  joined.ranks = {{actor(1, 1), 100, 8}};
  driver.hears(joined, from(kNode));
  driver.hears_of_end(actor(1, 1));
  joined.instance = actor(80, 2);
  joined.ranks = {{actor(1, 2), 100, 8}};
  driver.hears(joined, from(kNode));
  driver.hears(DecodeInstanceLeft{kInstance}, from(kNode));
  driver.hears_of_end(actor(1, 1));
  driver.hears(DecodeLoadReport{actor(1, 1), 8, 10'000}, from(actor(1, 1)));
  EXPECT_EQ(placed(1), actor(1, 2));
}

}  // namespace
}  // namespace troupe
