// The fabric's protocol, and the prefix index.
#include <optional>
#include <set>

#include "actors/pd/fabric_core.hpp"
#include "actors/pd/hit_policy.hpp"
#include "actors/pd/prefix_index.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {
namespace {

const ActorRef kFabricRoute = actor(95);
constexpr TimerTag kFabricTag{1, 0};

FabricCore::Args fabric_args() {
  FabricCore::Args args;
  args.ports = 2;
  args.speeds.jitter = Duration(1);
  return args;
}

TEST(Fabric, APushTakesBytesOverTheNic) {
  CoreDriver<FabricCore> fabric(fabric_args());
  const Turn begun = fabric.hears(MoveBytes{5, MoveKind::kPush, PortId(0), PortId(1), 50'000'000},
                                  from(kFabricRoute));
  EXPECT_EQ(begun.timer(kFabricTag), fabric.now() + milliseconds(1));
  fabric.passes(milliseconds(1));
  EXPECT_EQ(fabric.timer_fires(kFabricTag).only<BytesMoved>(kFabricRoute).move, 5u);
}

TEST(Fabric, AFetchWaitsForTheStoresAccess) {
  CoreDriver<FabricCore> fabric(fabric_args());
  const Turn begun = fabric.hears(MoveBytes{5, MoveKind::kFetch, PortId(1), PortId(1), 50'000'000},
                                  from(kFabricRoute));
  ASSERT_TRUE(begun.timer(kFabricTag));
  const Duration access = *begun.timer(kFabricTag) - fabric.now();
  EXPECT_GE(access, microseconds(300));
  EXPECT_LT(access, microseconds(301));
  fabric.passes(access);
  const Turn flowing = fabric.timer_fires(kFabricTag);
  EXPECT_TRUE(flowing.silent());
  EXPECT_EQ(flowing.timer(kFabricTag), fabric.now() + milliseconds(1));
}

TEST(Fabric, WritesAreNobodysAndStopsAreSilent) {
  CoreDriver<FabricCore> fabric(fabric_args());
  fabric.hears(MoveBytes{0, MoveKind::kWrite, PortId(0), PortId(0), 50'000'000},
               from(kFabricRoute));
  fabric.hears(MoveBytes{6, MoveKind::kFetch, PortId(1), PortId(1), 1'000}, from(kFabricRoute));
  fabric.hears(StopMove{6}, from(kFabricRoute));
  fabric.hears(StopMove{6}, from(kFabricRoute));
  fabric.passes(milliseconds(2));
  EXPECT_TRUE(fabric.timer_fires(kFabricTag).silent());
  EXPECT_EQ(fabric.core().links().flows(), 0u);
}

TEST(Fabric, AFaultSlowsWhatIsUnderWayAndItsEndBringsTheSpeedBack) {
  CoreDriver<FabricCore> fabric(fabric_args());
  fabric.hears(MoveBytes{5, MoveKind::kPush, PortId(0), PortId(1), 50'000'000}, from(kFabricRoute));
  const Turn slow = fabric.hears(LinksChanged{FabricPart::kNic, PortId(1), 0.1});
  EXPECT_EQ(slow.timer(kFabricTag), fabric.now() + milliseconds(10));
  fabric.passes(milliseconds(5));
  const Turn back = fabric.hears(LinksChanged{FabricPart::kNic, PortId(1), 1});
  EXPECT_EQ(back.timer(kFabricTag), fabric.now() + microseconds(500));
}

TEST(Fabric, AStopFreesTheNicAndTheOthersHearOfTheirOwnMoves) {
  CoreDriver<FabricCore> fabric(fabric_args());
  const auto push = [](std::uint64_t move) {
    return MoveBytes{move, MoveKind::kPush, PortId(0), PortId(1), 50'000'000};
  };
  fabric.hears(push(5), from(kFabricRoute));
  fabric.hears(push(7), from(kFabricRoute));
  fabric.passes(milliseconds(1));
  // Each has a half left; the other one goes on alone.
  const Turn alone = fabric.hears(StopMove{5}, from(kFabricRoute));
  EXPECT_EQ(alone.timer(kFabricTag), fabric.now() + microseconds(500));
  EXPECT_EQ(fabric.core().asked(), 1u);
  EXPECT_FALSE(fabric.hears(StopMove{5}, from(kFabricRoute)).timer(kFabricTag));
  fabric.hears(push(9), from(kFabricRoute));
  fabric.passes(milliseconds(1));
  EXPECT_EQ(fabric.timer_fires(kFabricTag).only<BytesMoved>(kFabricRoute).move, 7u);
  fabric.passes(microseconds(500));
  EXPECT_EQ(fabric.timer_fires(kFabricTag).only<BytesMoved>(kFabricRoute).move, 9u);
  EXPECT_EQ(fabric.core().asked(), 0u);
  EXPECT_EQ(fabric.core().links().flows(), 0u);
}

TEST(Fabric, FetchesBeginInTheOrderOfTheirAccesses) {
  FabricCore::Args args = fabric_args();
  args.speeds.jitter = microseconds(200);
  CoreDriver<FabricCore> fabric(args);
  std::optional<Time> due;
  for (std::uint64_t move = 1; move <= 20; ++move) {
    const MoveBytes fetch{move, MoveKind::kFetch, PortId(1), PortId(1), 1};
    const Turn turn = fabric.hears(fetch, from(kFabricRoute));
    if (const auto at = turn.timer(kFabricTag)) due = at;
  }
  for (const std::uint64_t move : {3u, 8u, 20u}) {
    const Turn turn = fabric.hears(StopMove{move}, from(kFabricRoute));
    if (const auto at = turn.timer(kFabricTag)) due = at;
  }
  EXPECT_EQ(fabric.core().not_begun(), 17u);
  std::set<std::uint64_t> ended;
  while (due) {
    ASSERT_GE(*due, fabric.now());
    fabric.passes(*due - fabric.now());
    const Turn turn = fabric.timer_fires(kFabricTag);
    for (const BytesMoved& moved : turn.sent<BytesMoved>(kFabricRoute)) {
      EXPECT_TRUE(ended.insert(moved.move).second) << moved.move;
    }
    due = turn.timer(kFabricTag);
  }
  EXPECT_EQ(ended.size(), 17u);
  EXPECT_EQ(ended.count(3) + ended.count(8) + ended.count(20), 0u);
  EXPECT_EQ(fabric.core().asked(), 0u);
  EXPECT_EQ(fabric.core().not_begun(), 0u);
}

TEST(HitPolicy, AnswersTheSeedsExample) {
  // Seed 004, check 1: 50,000 tokens, 49,000 of them cached.
  EXPECT_EQ(prefix_hit(50'000, 49'000, true), 48'896u);
  EXPECT_EQ(prefix_hit(50'000, 49'000, false), 48'768u);
  EXPECT_EQ(prefix_hit(50'000, 50'000, true), 49'866u / 128 * 128);
  EXPECT_EQ(prefix_hit(134, 134, true), 0u);
  EXPECT_EQ(prefix_hit(300, 100, false), 0u);
}

TEST(PrefixIndex, BlocksAreThereWhenTheyWereComputed) {
  PrefixIndex::Options options;
  options.window_miss = 0;
  PrefixIndex index(options);
  Rng rng(1);
  SimulatedWork work;
  work.parts = std::make_shared<const PromptParts>(PromptParts{{11, 12, 13, 14}, {}});
  work.session = 3;
  EXPECT_EQ(index.hit(work, 600, Time(), rng), 0u);
  index.computed(work, 600, Time());
  // 466 tokens at most, three blocks of 128 in them; the session's window is there for 180 s.
  EXPECT_EQ(index.hit(work, 600, Time() + seconds(179), rng), 384u);
  EXPECT_EQ(index.hit(work, 600, Time() + seconds(180), rng), 256u);
  EXPECT_EQ(index.tokens_asked(), 1'800u);
  EXPECT_EQ(index.tokens_hit(), 640u);
}

TEST(PrefixIndex, AShareOfLookupsMissesItsWindow) {
  PrefixIndex::Options options;
  options.window_miss = 0.25;
  PrefixIndex index(options);
  Rng rng(1);
  SimulatedWork work;
  work.cached = 1'280;
  int missed = 0;
  for (int i = 0; i < 4'000; ++i) {
    missed += index.hit(work, 2'000, Time(), rng) == 1'152 ? 1 : 0;
  }
  EXPECT_NEAR(missed, 1'000, 100);
}

}  // namespace
}  // namespace troupe
