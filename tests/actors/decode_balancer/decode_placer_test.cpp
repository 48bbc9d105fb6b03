// The queue, the rounds and the reservations of the decode balancer, without an actor.
#include "actors/decode_balancer/decode_placer.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

constexpr Time kStart{seconds(10).value};
constexpr std::uint64_t kTokens = 128;  // of a block

class DecodePlacerTest : public testing::Test {
 protected:
  static DecodeLimits limits() {
    DecodeLimits limits;
    limits.headroom_blocks = 0;
    limits.waiting_most = 8;
    limits.hold = seconds(2);
    limits.bypass_age = milliseconds(500);
    return limits;
  }
  Status submit(std::uint64_t request, std::uint64_t blocks, Duration left = seconds(60)) {
    return placer.submit(RequestId(request), blocks * kTokens, now, now + left);
  }
  /// Requests that a round placed, in order.
  std::vector<std::uint64_t> round() {
    std::vector<std::uint64_t> placed;
    for (const auto& one : placer.round(now)) {
      placed.push_back(one.request.value);
      gpu_of[one.request.value] = one.gpu;
      generation = one.generation;
    }
    return placed;
  }
  using Requests = std::vector<std::uint64_t>;

  DecodePlacer placer{DecodeRule::kBalanced, limits()};
  Time now = kStart;
  std::map<std::uint64_t, GpuId> gpu_of;
  std::uint32_t generation = 0;
};

TEST_F(DecodePlacerTest, PlacesInOrderAndCountsAtOnce) {
  placer.add_gpu(100, 8);
  placer.add_gpu(100, 8);
  for (std::uint64_t id = 1; id <= 4; ++id) ASSERT_TRUE(submit(id, 10).ok());
  EXPECT_EQ(round(), (Requests{1, 2, 3, 4}));
  EXPECT_EQ(placer.pool().at(gpu_of[1]).rows, 2u);
  EXPECT_EQ(placer.pool().tokens(), 40 * kTokens);
  EXPECT_NE(gpu_of[1], gpu_of[2]);
}

TEST_F(DecodePlacerTest, TheHeadWaitsForOneGpuAndOnlySmallOnesPassIt) {
  placer.add_gpu(100, 8);
  placer.add_gpu(100, 8);
  ASSERT_TRUE(submit(1, 60).ok());
  ASSERT_TRUE(submit(2, 60).ok());
  EXPECT_EQ(round().size(), 2u);
  ASSERT_TRUE(submit(3, 64).ok());  // 80 free in two pieces of 40
  ASSERT_TRUE(submit(4, 9).ok());   // more than an eighth of it
  ASSERT_TRUE(submit(5, 8).ok());
  EXPECT_EQ(round(), (Requests{5}));
  now = now + milliseconds(500);
  ASSERT_TRUE(submit(6, 1).ok());
  EXPECT_EQ(round(), Requests{}) << "the head has waited too long to be passed";
  placer.release(RequestId(1));
  EXPECT_EQ(round(), (Requests{3, 4, 6}));
}

TEST_F(DecodePlacerTest, ReservationsThatNobodyStartsRunOut) {
  placer.add_gpu(100, 8);
  ASSERT_TRUE(submit(1, 10).ok());
  ASSERT_TRUE(submit(2, 10).ok());
  round();
  EXPECT_TRUE(placer.start(RequestId(1), 1));
  now = now + seconds(2);
  const auto ended = placer.expire(now);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].request, RequestId(2));
  EXPECT_FALSE(ended[0].waiting);
  EXPECT_EQ(placer.pool().tokens(), 10 * kTokens);
  EXPECT_FALSE(placer.start(RequestId(2), 1)) << "too late";
  EXPECT_EQ(placer.next_deadline(), std::nullopt) << "a started one has none";
}

TEST_F(DecodePlacerTest, WaitingEndsWithTheTimeThatItsOwnerGave) {
  ASSERT_TRUE(submit(1, 10, seconds(1)).ok());
  EXPECT_EQ(round(), Requests{}) << "no GPU is there";
  EXPECT_EQ(placer.next_deadline(), now + seconds(1));
  now = now + seconds(1);
  const auto ended = placer.expire(now);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_TRUE(ended[0].waiting);
  EXPECT_EQ(placer.tickets(), 0u);
}

TEST_F(DecodePlacerTest, OfALostGpuTheHeldOnesWaitAgainInTheirOldOrder) {
  const GpuId first = placer.add_gpu(30, 8);
  for (std::uint64_t id = 1; id <= 3; ++id) ASSERT_TRUE(submit(id, 10).ok());
  EXPECT_EQ(round().size(), 3u);
  ASSERT_TRUE(placer.start(RequestId(2), 1));
  ASSERT_TRUE(submit(4, 10).ok());
  EXPECT_EQ(placer.remove_gpus({{first}}, now), (std::vector<RequestId>{RequestId(2)}));
  EXPECT_EQ(placer.waiting(), 3u);
  placer.add_gpu(30, 8);
  EXPECT_EQ(round(), (Requests{1, 3, 4}));
  EXPECT_FALSE(placer.start(RequestId(1), 1)) << "that placement is void";
  EXPECT_TRUE(placer.start(RequestId(1), 2));
  EXPECT_EQ(placer.pool().at(gpu_of[1]).rows, 3u);
}

TEST_F(DecodePlacerTest, WhatNoGpuCanHoldIsSaidAtOnceAndHoldsUpNobody) {
  const GpuId large = placer.add_gpu(100, 8);
  placer.add_gpu(20, 8);
  EXPECT_EQ(submit(1, 101).error().code, Code::kTooLarge);
  EXPECT_EQ(placer.submit(RequestId(1), ~std::uint64_t{0}, now, now).error().code, Code::kTooLarge);
  ASSERT_TRUE(submit(2, 100).ok());
  ASSERT_TRUE(submit(3, 100).ok());
  EXPECT_EQ(round(), (Requests{2}));
  EXPECT_TRUE(placer.remove_gpus({{large}}, now).empty());
  EXPECT_EQ(placer.expire(now).size(), 2u) << "both are too large for what is left";
  ASSERT_TRUE(submit(4, 20).ok());
  EXPECT_EQ(round(), (Requests{4}));
}

TEST_F(DecodePlacerTest, BoundsAndNamesAreChecked) {
  placer.add_gpu(100, 8);
  EXPECT_EQ(submit(0, 1).error().code, Code::kInvalid);
  ASSERT_TRUE(submit(1, 1).ok());
  EXPECT_EQ(submit(1, 1).error().code, Code::kInvalid);
  for (std::uint64_t id = 2; id <= 8; ++id) ASSERT_TRUE(submit(id, 1).ok());
  EXPECT_EQ(submit(9, 1).error().code, Code::kUnavailable);
}

TEST_F(DecodePlacerTest, ABatchIsNeverLargerThanItsBound) {
  placer.add_gpu(100, 2);
  for (std::uint64_t id = 1; id <= 3; ++id) ASSERT_TRUE(submit(id, 1).ok());
  EXPECT_EQ(round(), (Requests{1, 2}));
  placer.release(RequestId(2));
  EXPECT_EQ(round(), (Requests{3}));
}

TEST_F(DecodePlacerTest, OnlyWhatHasARowRaisesTheLevel) {
  const GpuId many_rows = placer.add_gpu(10'000, 4);
  const GpuId many_tokens = placer.add_gpu(10'000, 2);
  for (int i = 0; i < 3; ++i) placer.pool().reserve(many_rows, {kTokens, 1, 0});
  placer.pool().reserve(many_tokens, {100 * kTokens, 100, 0});
  for (std::uint64_t id = 1; id <= 2; ++id) ASSERT_TRUE(submit(id, 1).ok());
  // They would raise the level above both GPUs, so that rows alone decided; but no row is left.
  for (std::uint64_t id = 3; id <= 8; ++id) ASSERT_TRUE(submit(id, 1'000).ok());
  EXPECT_EQ(round(), (Requests{1, 2}));
  EXPECT_EQ(gpu_of[1], many_rows);
  EXPECT_EQ(gpu_of[2], many_tokens);
  EXPECT_EQ(placer.pool().rows_free(), 0u);
}

TEST_F(DecodePlacerTest, NothingIsLeftAfterRandomLives) {
  // Submissions, starts, releases, losses and deadlines in random order: loads add up to zero.
  Rng rng(11);
  std::vector<GpuId> gpus;
  for (int i = 0; i < 6; ++i) gpus.push_back(placer.add_gpu(200, 8));
  std::uint64_t next = 0;
  for (int step = 0; step < 20'000; ++step) {
    now = now + milliseconds(static_cast<std::int64_t>(rng.below(40)));
    const auto some = RequestId(1 + rng.below(next + 1));
    switch (rng.below(6)) {
      case 0:
      case 1:
        (void)submit(++next, 1 + rng.below(90),
                     milliseconds(1 + static_cast<std::int64_t>(rng.below(2'000))));
        break;
      case 2:
        placer.start(RequestId(next), 1);
        break;
      case 3:
        placer.release(some);
        break;
      case 4:
        round();
        break;
      default:
        placer.expire(now);
        if (!rng.chance(0.05)) break;
        placer.remove_gpus({{gpus[0]}}, now);
        gpus[0] = placer.add_gpu(100 + static_cast<std::uint32_t>(rng.below(150)), 8);
    }
  }
  for (std::uint64_t id = 1; id <= next; ++id) placer.release(RequestId(id));
  EXPECT_EQ(placer.tickets(), 0u);
  EXPECT_EQ(placer.waiting(), 0u);
  EXPECT_EQ(placer.next_deadline(), std::nullopt);
  EXPECT_EQ(placer.pool().tokens(), 0u);
  for (const GpuId gpu : gpus) EXPECT_EQ(placer.pool().at(gpu).rows, 0u);
}

}  // namespace
}  // namespace troupe
