// A winner tree gives the answers of a look at all.
#include "actors/balance/winner_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

constexpr std::uint32_t kSlots = 37;

TEST(WinnerTree, AgreesWithALookAtAll) {
  WinnerTree<std::uint64_t, false> tree;
  std::vector<std::uint64_t> plain(kSlots, tree.kWorst);
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto slot = static_cast<std::uint32_t>(rng.below(kSlots));
    // Few numbers, so that many are equal; some slots are emptied again.
    plain[slot] = rng.chance(0.2) ? tree.kWorst : rng.below(6);
    tree.set(slot, plain[slot]);
    const std::uint64_t best = *std::min_element(plain.begin(), plain.end());
    ASSERT_EQ(tree.best(), best);

    const auto start = static_cast<std::uint32_t>(rng.below(kSlots));
    std::uint32_t expected = start;
    while (plain[expected] != best) expected = (expected + 1) % kSlots;
    if (best != tree.kWorst) {
      ASSERT_EQ(tree.holder(start), expected);
    }

    const auto passes = [&](std::uint32_t at) { return at % 3 == start % 3; };
    std::uint64_t best_passing = tree.kWorst;
    for (std::uint32_t at = 0; at < kSlots; ++at) {
      if (passes(at)) best_passing = std::min(best_passing, plain[at]);
    }
    const auto found = tree.best_of(passes);
    ASSERT_EQ(found.has_value(), best_passing != tree.kWorst);
    if (found) {
      ASSERT_TRUE(passes(*found));
      ASSERT_EQ(plain[*found], best_passing);
    }
  }
}

TEST(WinnerTree, TheLargestWinsWhereItIsAskedFor) {
  WinnerTree<std::uint32_t, true> tree;
  EXPECT_EQ(tree.best(), 0u);
  tree.set(4, 7);
  tree.set(2, 9);
  tree.set(9, 9);
  EXPECT_EQ(tree.best(), 9u);
  EXPECT_EQ(tree.holder(), 2u);
  EXPECT_EQ(tree.holder(3), 9u);
  EXPECT_EQ(tree.holder(10), 2u) << "round the circle";
  EXPECT_EQ(tree.best_of([](std::uint32_t slot) { return slot == 4; }), 4u);
  EXPECT_EQ(tree.best_of([](std::uint32_t) { return false; }), std::nullopt);
}

}  // namespace
}  // namespace troupe
