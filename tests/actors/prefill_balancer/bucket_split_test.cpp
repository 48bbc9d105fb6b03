// Engines by length buckets, as arithmetic.
#include "actors/prefill_balancer/bucket_split.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

using Shares = std::vector<std::uint32_t>;
using Lanes = std::array<std::uint32_t, kLengthBuckets>;

std::uint32_t sum(const Shares& shares) {
  return std::accumulate(shares.begin(), shares.end(), 0u);
}

TEST(BucketSplit, BucketsAreThoseOfTheSeed) {
  EXPECT_EQ(bucket_of(1), 0u);
  EXPECT_EQ(bucket_of(16'383), 0u);
  EXPECT_EQ(bucket_of(16'384), 1u);
  EXPECT_EQ(bucket_of(65'536), 2u);
  EXPECT_EQ(bucket_of(262'143), 2u);
  EXPECT_EQ(bucket_of(262'144), 3u);
}

TEST(BucketSplit, SharesGoByLargestRemainder) {
  // 10 engines: 3.4, 3.4, 3.2 → 3, 3, 3 and one more for the first of the largest remainders.
  EXPECT_EQ(fair_shares({{34, true, 10}, {34, true, 0}, {32, true, 0}}), (Shares{4, 3, 3}));
  EXPECT_EQ(fair_shares({{10, true, 4}, {10, true, 4}, {0, false, 0}, {0, false, 0}}),
            (Shares{4, 4, 0, 0}));
}

TEST(BucketSplit, WorkGetsAnEngineHoweverLittleItAsks) {
  EXPECT_EQ(fair_shares({{1'000, true, 8}, {0, false, 0}, {0, false, 0}, {1, true, 0}}),
            (Shares{7, 0, 0, 1}));
  EXPECT_EQ(fair_shares({{1'000, true, 4}, {1, true, 0}, {1, true, 0}, {1, true, 0}}),
            (Shares{1, 1, 1, 1}));
}

TEST(BucketSplit, WithoutDemandAllStayWhereTheyAre) {
  EXPECT_EQ(fair_shares({{0, false, 3}, {0, false, 1}, {0, false, 4}}), (Shares{3, 1, 4}));
}

TEST(BucketSplit, FewEnginesShareNeighbours) {
  EXPECT_EQ(lanes_of({1, 1, 1, 1}, 4), (Lanes{0, 1, 2, 3}));
  EXPECT_EQ(lanes_of({1, 1, 1, 1}, 64), (Lanes{0, 1, 2, 3}));
  EXPECT_EQ(lanes_of({0, 0, 0, 0}, 3), (Lanes{0, 1, 2, 2})) << "on equal demand the longer ones";
  EXPECT_EQ(lanes_of({1, 2, 9, 9}, 3), (Lanes{0, 0, 1, 2}));
  EXPECT_EQ(lanes_of({5, 2, 2, 9}, 3), (Lanes{0, 1, 1, 2}));
  EXPECT_EQ(lanes_of({9, 2, 2, 4}, 2), (Lanes{0, 1, 1, 1}));
  EXPECT_EQ(lanes_of({9, 2, 2, 4}, 1), (Lanes{0, 0, 0, 0}));
}

TEST(BucketSplit, OneEngineMovesARound) {
  const std::vector<Lane> lanes{{1, true, 6}, {1, true, 2}};
  EXPECT_EQ(moves_of_round(lanes, {4, 4}, 1), (std::vector<EngineMove>{{0, 1}}));
  EXPECT_EQ(moves_of_round(lanes, {4, 4}, 8).size(), 2u);
  EXPECT_TRUE(moves_of_round(lanes, {6, 2}, 1).empty());
}

TEST(BucketSplit, AFirstEngineComesBesidesTheOneThatMoves) {
  const std::vector<Lane> lanes{{6, true, 8}, {2, true, 0}, {0, false, 0}, {1, true, 0}};
  EXPECT_EQ(moves_of_round(lanes, {5, 2, 0, 1}, 1),
            (std::vector<EngineMove>{{0, 1}, {0, 3}, {0, 1}}));
}

TEST(BucketSplit, RandomRoundsEndAtTheSharesAndLoseNobody) {
  Rng rng(3);
  for (int run = 0; run < 500; ++run) {
    std::vector<Lane> lanes(4);
    lanes[0].engines = static_cast<std::uint32_t>(4 + rng.below(60));
    const std::uint32_t engines = lanes[0].engines;
    for (Lane& lane : lanes) {
      lane.work = rng.chance(0.7);
      lane.demand = lane.work ? rng.exponential(100) : 0;
    }
    const Shares shares = fair_shares(lanes);
    ASSERT_EQ(sum(shares), engines);
    std::uint32_t rounds = 0;
    while (true) {
      const auto moves = moves_of_round(lanes, shares, 1);
      if (moves.empty()) break;
      std::uint32_t firsts = 0;
      for (const EngineMove& move : moves) {
        firsts += lanes[move.to].engines == 0 ? 1 : 0;
        ASSERT_GT(lanes[move.from].engines--, 0u);
        ++lanes[move.to].engines;
      }
      ASSERT_LE(moves.size(), firsts + 1);
      ASSERT_LE(++rounds, engines);
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      EXPECT_EQ(lanes[i].engines, shares[i]);
      EXPECT_TRUE(!lanes[i].work || shares[i] > 0);
    }
  }
}

}  // namespace
}  // namespace troupe
