// The vision balancer's protocol: owners, machines, deadlines.
#include "actors/vision_balancer/vision_balancer_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {
namespace {

class VisionBalancerTest : public testing::Test {
 protected:
  const ActorRef node = actor(90);
  const ActorRef owner = actor(10);
  const TimerTag deadline{0, 0};

  static VisionBalancerCore::Args args() {
    VisionBalancerCore::Args args;
    args.patches_most = 1'000;
    args.images_most = 5;
    return args;
  }
  /// Machine 50 has encoders 51 and 52.
  Turn joins(std::uint64_t machine) {
    return driver.hears(
        EncoderMachineJoined{actor(machine), {actor(machine + 1), actor(machine + 2)}}, from(node));
  }
  /// 256 patches of 14 x 14 for a side of 224.
  Turn encodes(std::uint32_t image, std::uint32_t side = 224, Duration left = seconds(60)) {
    return driver.hears(EncodeImage{owner, image, side, side, left}, from(owner));
  }
  std::uint64_t in_flight() const {
    return driver.core().pool().patches({0, 0}) + driver.core().pool().patches({0, 1});
  }

  CoreDriver<VisionBalancerCore> driver{args()};
};

TEST_F(VisionBalancerTest, AnImageGetsTheEncoderWithTheFewestPatches) {
  joins(50);
  const Turn turn = encodes(1, 280);
  const auto first = turn.only<EncoderChosen>(owner);
  EXPECT_EQ(first.patches, 400u);
  EXPECT_TRUE(turn.watches(owner));
  const auto second = encodes(2).only<EncoderChosen>(owner).encoder;
  EXPECT_NE(second, first.encoder);
  EXPECT_EQ(encodes(3, 14).only<EncoderChosen>(owner).encoder, second);
  driver.hears(ImageEncoded{owner, 1}, from(first.encoder));
  EXPECT_EQ(encodes(4).only<EncoderChosen>(owner).encoder, first.encoder);
}

TEST_F(VisionBalancerTest, AMachineMaySpeakForAllOfItsGpus) {
  const Turn joined =
      driver.hears(EncoderMachineJoined{actor(50), {actor(51), actor(51)}}, from(actor(51)));
  EXPECT_EQ(joined.all<effect::Watch>().size(), 1u);
  const auto first = encodes(1).only<EncoderChosen>(owner);
  const auto second = encodes(2).only<EncoderChosen>(owner);
  EXPECT_EQ(first.encoder, actor(51));
  EXPECT_EQ(second.encoder, actor(51));
  EXPECT_EQ(first.gpu + second.gpu, 1u) << "each GPU once";
  EXPECT_EQ(driver.core().pool().patches(), 512u);
  EXPECT_EQ(driver.core().images(), 2u);
  driver.hears_of_end(actor(51));
  EXPECT_EQ(driver.core().waiting(), 2u);
  EXPECT_EQ(driver.core().pool().patches(), 0u);
}

TEST_F(VisionBalancerTest, ImagesWaitForRoomInOrder) {
  joins(50);
  encodes(1, 448);  // 1,024 patches each: both are full
  encodes(2, 448);
  EXPECT_TRUE(encodes(3).silent());
  EXPECT_TRUE(encodes(4).silent());
  const Turn ended = driver.hears(ImageEncoded{owner, 1}, from(owner));
  ASSERT_EQ(ended.sent<EncoderChosen>(owner).size(), 2u);
  EXPECT_EQ(ended.sent<EncoderChosen>(owner)[0].image, 3u);
}

TEST_F(VisionBalancerTest, TheEndOfTheOwnerFreesAllItsImages) {
  joins(50);
  encodes(1, 448);
  encodes(2, 448);
  encodes(3);
  driver.hears_of_end(owner);
  EXPECT_EQ(in_flight(), 0u);
  EXPECT_EQ(driver.core().waiting(), 0u);
  EXPECT_TRUE(driver.hears(ImageEncoded{owner, 1}, from(actor(51))).silent());
}

TEST_F(VisionBalancerTest, ImagesOfALostMachineArePlacedAnew) {
  joins(50);
  encodes(1);
  encodes(2);
  joins(60);
  const Turn lost = driver.hears_of_end(actor(52));
  for (const auto& chosen : lost.sent<EncoderChosen>(owner)) {
    EXPECT_TRUE(chosen.encoder == actor(61) || chosen.encoder == actor(62));
  }
  EXPECT_EQ(lost.count<EncoderChosen>(), 2u);
}

TEST_F(VisionBalancerTest, WhoFindsNoEncoderInTimeIsTold) {
  EXPECT_EQ(encodes(1, 224, seconds(2)).timer(deadline), driver.now() + seconds(2));
  encodes(2, 224, seconds(3));
  driver.passes(seconds(2));
  const Turn fired = driver.timer_fires(deadline);
  EXPECT_EQ(fired.only<EncodeRefused>(owner).code, Code::kDeadline);
  EXPECT_EQ(fired.timer(deadline), driver.now() + seconds(1));
  EXPECT_EQ(joins(50).only<EncoderChosen>(owner).image, 2u);
}

TEST_F(VisionBalancerTest, BadMessagesGetAnAnswerOrNone) {
  EXPECT_EQ(encodes(1, 0).only<EncodeRefused>(owner).code, Code::kInvalid);
  encodes(1);
  EXPECT_EQ(encodes(1).only<EncodeRefused>(owner).code, Code::kInvalid) << "twice";
  for (std::uint32_t image = 2; image <= 5; ++image) encodes(image);
  EXPECT_EQ(encodes(6).only<EncodeRefused>(owner).code, Code::kUnavailable);
  EXPECT_TRUE(driver.hears(EncodeImage{}, from(node)).silent());
  EXPECT_TRUE(driver.hears(EncoderMachineJoined{actor(70), {}}, from(node)).silent());
}

TEST_F(VisionBalancerTest, ADrainEndsItWhenNothingIsLeft) {
  joins(50);
  encodes(1);
  EXPECT_FALSE(driver.hears(Drain{seconds(5)}).stops());
  EXPECT_EQ(encodes(2).only<EncodeRefused>(owner).code, Code::kUnavailable);
  EXPECT_TRUE(driver.hears(ImageEncoded{owner, 1}, from(owner)).stops());
}

}  // namespace
}  // namespace troupe
