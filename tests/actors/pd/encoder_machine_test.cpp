// The encoder machine by calling it: what a GPU encodes when, and what is dropped.
#include "actors/pd/encoder_machine_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {
namespace {

const ActorRef kVisionBalancer = actor(70);
const ActorRef kImageRoute = actor(71);
const ActorRef kOtherRoute = actor(72);

Done<StepResult> encoded_by(std::uint32_t gpu) {
  GroupResult result;
  result.own = {milliseconds(2)};
  result.tokens = 100;
  Done<StepResult> done;
  done.op = OpId(gpu + 1);
  done.output.device_time = milliseconds(2);
  done.output.group.result = std::make_shared<const GroupResult>(std::move(result));
  return done;
}

class EncoderMachineTest : public testing::Test {
 protected:
  static EncoderMachineCore::Args args() {
    EncoderMachineCore::Args args;
    args.streams.resize(2);
    args.balancer = kVisionBalancer;
    return args;
  }
  Turn encodes(std::uint32_t image, std::uint64_t patches, std::uint32_t gpu = 0,
               const ActorRef& route = kImageRoute) {
    return machine.hears(EncodePatches{image, gpu, patches}, from(route));
  }
  /// Patches of what the turn launched.
  static std::vector<std::uint32_t> launched(const Turn& turn) {
    std::vector<std::uint32_t> patches;
    for (const auto& launch : turn.all<effect::LaunchStep>()) {
      for (const GroupChunk& image : launch.plan->group->chunks) patches.push_back(image.tokens);
    }
    return patches;
  }
  CoreDriver<EncoderMachineCore> machine{args()};
};

TEST_F(EncoderMachineTest, JoinsOnceForEachGpuUntilItGetsWork) {
  constexpr TimerTag kJoin{1, 0};
  const Turn turn = machine.starts();
  EXPECT_EQ(turn.only<EncoderMachineJoined>(kVisionBalancer).encoders,
            (std::vector{machine.self(), machine.self()}));
  EXPECT_EQ(machine.timer_fires(kJoin).count<EncoderMachineJoined>(), 1u);
  encodes(1, 10);
  EXPECT_TRUE(machine.timer_fires(kJoin).silent());
}

TEST_F(EncoderMachineTest, AGpuEncodesOneAfterTheOtherAndWaitsForNoOther) {
  const Turn first = encodes(1, 600);
  EXPECT_TRUE(first.watches(kImageRoute));
  EXPECT_EQ(launched(first), std::vector{600u});
  EXPECT_EQ(launched(encodes(2, 500, 1)), std::vector{500u}) << "another GPU";
  EXPECT_TRUE(launched(encodes(3, 400)).empty());
  EXPECT_TRUE(launched(encodes(3, 300, 0, kOtherRoute)).empty()) << "another route's number";
  EXPECT_EQ(machine.core().busy(), 2u);
  const Turn turn = machine.hears(encoded_by(0));
  EXPECT_EQ(turn.only<PatchesEncoded>(kImageRoute).image, 1u);
  EXPECT_EQ(turn.metric("troupe_images_encoded_total"), 1);
  EXPECT_EQ(launched(turn), std::vector{400u});
  machine.hears(encoded_by(0));
  EXPECT_EQ(machine.hears(encoded_by(0)).only<PatchesEncoded>(kOtherRoute).image, 3u);
  EXPECT_EQ(machine.core().busy(), 1u);
  EXPECT_EQ(machine.core().use().members, 2u);
  EXPECT_DOUBLE_EQ(machine.core().use().busy, 0.006);
}

TEST_F(EncoderMachineTest, OneThatIsAskedForTwiceCountsOnce) {
  encodes(1, 100);
  const Turn again = encodes(1, 100);
  EXPECT_EQ(again.only<EncodePending>(kImageRoute).image, 1u);
  machine.hears(encoded_by(0));
  EXPECT_EQ(machine.core().images(), 0u);
  EXPECT_EQ(launched(encodes(1, 100)), std::vector{100u}) << "its answer was lost";
}

TEST_F(EncoderMachineTest, WhatWasStoppedIsDropped) {
  encodes(1, 100);
  encodes(2, 200);
  encodes(3, 300);
  machine.hears(StopEncode{1}, from(kImageRoute));
  machine.hears(StopEncode{2}, from(kImageRoute));
  machine.hears(StopEncode{3}, from(kOtherRoute));
  machine.hears(StopEncode{9}, from(kImageRoute));
  const Turn turn = machine.hears(encoded_by(0));
  EXPECT_TRUE(turn.silent());
  EXPECT_EQ(launched(turn), std::vector{300u});
}

TEST_F(EncoderMachineTest, TheEndOfARouteEndsItsImages) {
  encodes(1, 100);
  encodes(2, 200);
  encodes(1, 300, 0, kOtherRoute);
  machine.hears_of_end(kImageRoute);
  EXPECT_EQ(machine.core().images(), 1u);
  EXPECT_EQ(launched(machine.hears(encoded_by(0))), std::vector{300u});
  EXPECT_TRUE(encodes(5, 100).watches(kImageRoute)) << "it may come back";
}

TEST_F(EncoderMachineTest, AStepThatFailsEndsTheMachine) {
  encodes(1, 100);
  Done<StepResult> failed;
  failed.op = OpId(1);
  failed.failed = true;
  EXPECT_TRUE(machine.hears(failed).crashes());
}

}  // namespace
}  // namespace troupe
