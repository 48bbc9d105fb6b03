// Fluid links against arithmetic by hand, and against a slow simulation in small steps.
#include "runtime/simulation/fluid_links.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

constexpr double kMega = 1e6;

Time at_ms(std::int64_t ms) {
  return Time() + milliseconds(ms);
}

std::vector<FlowId> ended_by(FluidLinks& links, Time now) {
  std::vector<FlowId> ended;
  links.take_ended(now, [&](FlowId flow) { ended.push_back(flow); });
  return ended;
}

TEST(FluidLinks, OneFlowTakesBytesOverBandwidth) {
  FluidLinks links;
  const LinkId link = links.add_link(1000 * kMega);
  const FlowId flow = links.start(Bytes(50'000'000), std::array{link}, Time());
  ASSERT_TRUE(links.next_end());
  EXPECT_EQ(*links.next_end(), at_ms(50));
  EXPECT_TRUE(ended_by(links, at_ms(49)).empty());
  EXPECT_EQ(ended_by(links, at_ms(50)), std::vector{flow});
  EXPECT_EQ(links.carried(link), 50e6);
  EXPECT_FALSE(links.next_end());
}

TEST(FluidLinks, AFlowThatNeedsAgesDoesNotEndAtOnce) {
  FluidLinks links;
  const LinkId link = links.add_link(1e-12);
  links.start(Bytes(50'000'000), std::array{link}, at_ms(1));
  ASSERT_TRUE(links.next_end());
  EXPECT_GT(*links.next_end(), Time() + seconds(1'000'000'000));
  EXPECT_TRUE(ended_by(links, at_ms(1'000'000)).empty());
}

TEST(FluidLinks, TwoShareAndTheRestGetsAll) {
  FluidLinks links;
  const LinkId link = links.add_link(1000 * kMega);
  const FlowId first = links.start(Bytes(50'000'000), std::array{link}, Time());
  // The first has 25 MB left; both run at half speed.
  links.start(Bytes(50'000'000), std::array{link}, at_ms(25));
  EXPECT_EQ(*links.next_end(), at_ms(75));
  EXPECT_EQ(ended_by(links, at_ms(75)), std::vector{first});
  // The second has 25 MB left, alone.
  EXPECT_EQ(*links.next_end(), at_ms(100));
}

TEST(FluidLinks, ASlowLinkHoldsUpAndACancelFrees) {
  FluidLinks links;
  const LinkId nic_a = links.add_link(100 * kMega);
  const LinkId nic_b = links.add_link(100 * kMega);
  const LinkId spine = links.add_link(150 * kMega);
  links.start(Bytes(7'500'000), std::array{nic_a, spine}, Time());
  const FlowId slow = links.start(Bytes(75'000'000), std::array{nic_b, spine}, Time());
  EXPECT_EQ(*links.next_end(), at_ms(100)) << "7.5 MB at a half of 150 MB/s";
  links.cancel(slow, at_ms(50));
  EXPECT_EQ(links.flows(), 1u);
  // 3.75 MB left, now at the 100 MB/s of its NIC.
  EXPECT_EQ(*links.next_end(), at_ms(50) + microseconds(37'500));
}

TEST(FluidLinks, ABandwidthThatChangesChangesTheEnd) {
  FluidLinks links;
  const LinkId link = links.add_link(100 * kMega);
  links.start(Bytes(10'000'000), std::array{link}, Time());
  links.set_bandwidth(link, 10 * kMega, at_ms(50));
  EXPECT_EQ(*links.next_end(), at_ms(550));
}

TEST(FluidLinks, WhoeverIsLeftOnAWidenedLinkGetsAllOfIt) {
  FluidLinks links;
  const LinkId alone = links.add_link(100 * kMega);
  const LinkId narrow = links.add_link(100 * kMega);
  const LinkId wide = links.add_link(5'000 * kMega);
  for (const auto& path : {std::vector{alone}, std::vector{narrow, wide}}) {
    const FlowId first = links.start(Bytes(100'000'000), path, Time());
    const FlowId second = links.start(Bytes(100'000'000), path, Time());
    links.set_bandwidth(path[0], 1'000 * kMega, Time());
    links.cancel(first, at_ms(100));
    // 50 MB went at half of it, 50 MB go at all of it.
    EXPECT_EQ(*links.next_end(), at_ms(150)) << path.size() << " links";
    links.cancel(second, at_ms(100));
  }
}

TEST(FluidLinks, ASpineThatIsNarrowedHoldsUpWhatRunsOverItAlready) {
  FluidLinks links;
  std::vector<LinkId> nics;
  for (int i = 0; i < 4; ++i) nics.push_back(links.add_link(100 * kMega));
  const LinkId spine = links.add_link(400 * kMega);
  links.start(Bytes(10'000'000), std::array{nics[0], spine, nics[1]}, Time());
  links.start(Bytes(10'000'000), std::array{nics[2], spine, nics[3]}, Time());
  EXPECT_EQ(*links.next_end(), at_ms(100));
  links.set_bandwidth(spine, 20 * kMega, at_ms(50));
  EXPECT_EQ(*links.next_end(), at_ms(550)) << "5 MB are left of each, at 10 MB/s";
  links.set_bandwidth(spine, 400 * kMega, at_ms(300));
  EXPECT_EQ(*links.next_end(), at_ms(325));
  EXPECT_EQ(ended_by(links, at_ms(325)).size(), 2u);
}

TEST(FluidLinks, AHalvedLinkIsSharedAnewWhenAFlowEnds) {
  FluidLinks links;
  const LinkId link = links.add_link(100);
  links.start(Bytes(10'000), std::array{link}, Time());
  const FlowId other = links.start(Bytes(10'000), std::array{link}, Time());
  links.set_bandwidth(link, 50, Time() + seconds(2));  // 9,900 bytes left of each
  links.cancel(other, Time() + seconds(4));
  // 9,850 left, alone.
  EXPECT_EQ(*links.next_end(), Time() + seconds(201));
}

TEST(FluidLinks, AWidenedLinkIsSharedByTheNextFlow) {
  FluidLinks links;
  const LinkId link = links.add_link(50);
  links.start(Bytes(10'000), std::array{link}, Time());
  links.set_bandwidth(link, 100, Time() + seconds(2));  // 9,900 left
  links.start(Bytes(100'000), std::array{link}, Time() + seconds(3));
  // 9,800 left at 50 a second.
  EXPECT_EQ(*links.next_end(), Time() + seconds(199));
}

TEST(FluidLinks, SharesThatWereNotLookedAtCountWhenTheyHoldUp) {
  FluidLinks links;
  const LinkId all = links.add_link(60);
  const LinkId narrow = links.add_link(16);
  const LinkId wide = links.add_link(100);
  const LinkId middle = links.add_link(25);
  links.start(Bytes(1'600), std::array{narrow, all}, Time());
  links.start(Bytes(2'500), std::array{middle, all}, Time());
  links.start(Bytes(100'000), std::array{wide, all}, Time());
  // Three on 60: 16 (its own link), 20, 20.
  EXPECT_EQ(*links.next_end(), Time() + seconds(100));
  const auto first = *links.next_end();
  std::size_t ended = 0;
  links.take_ended(first, [&](FlowId) { ++ended; });
  EXPECT_EQ(ended, 1u);
  // The second has 500 left, and its own link's 25.
  EXPECT_EQ(*links.next_end(), Time() + seconds(120));
}

TEST(FluidLinks, ACrowdSharesOneLink) {
  FluidLinks links;
  const LinkId link = links.add_link(1000 * kMega);
  constexpr std::uint64_t kFlows = 5'000;
  for (std::uint64_t i = 1; i <= kFlows; ++i) {
    links.start(Bytes(1'000'000), std::array{link},
                Time() + microseconds(static_cast<std::int64_t>(i)));
  }
  std::uint64_t ended = 0;
  double last = 0;
  while (const auto next = links.next_end()) {
    last = next->seconds();
    ended += ended_by(links, *next).size();
  }
  EXPECT_EQ(ended, kFlows);
  EXPECT_EQ(links.carried(link), kFlows * 1e6);
  // 5 GB at 1 GB/s; what the crowd's shares are behind by is at most 1/32 of it.
  EXPECT_GE(last, 5.0 / (1 + 1.0 / FluidLinks::kExactFlows));
  EXPECT_LE(last, 5.0 * (1 + 1.0 / FluidLinks::kExactFlows) + 0.01);
}

struct SlowFlow {
  std::vector<LinkId> path;
  double left = 0;
  double end = 0;
};

TEST(FluidLinks, AgreesWithSmallSteps) {
  constexpr double kStep = 1e-5;
  Rng rng(7);
  FluidLinks links;
  std::vector<double> widths;
  for (int i = 0; i < 6; ++i) {
    widths.push_back((80 + 20 * i) * kMega);
    links.add_link(widths.back());
  }
  std::map<std::uint64_t, SlowFlow> slow;
  std::map<std::uint32_t, std::uint64_t> names;
  std::map<std::uint64_t, double> fast_ends;
  std::map<std::uint64_t, double> slow_ends;
  std::uint64_t next = 0;
  for (std::int64_t step = 0; step < 200'000; ++step) {
    const Time now(step * 10'000);
    links.take_ended(now, [&](FlowId flow) { fast_ends[names[flow.value]] = now.seconds(); });
    if (step < 100'000 && rng.chance(0.002)) {
      const std::uint32_t a = static_cast<std::uint32_t>(rng.below(6));
      const std::uint32_t b = (a + 1 + static_cast<std::uint32_t>(rng.below(5))) % 6;
      const auto bytes = 100'000 + rng.below(800'000);
      const FlowId flow = links.start(Bytes(bytes), std::array{LinkId(a), LinkId(b)}, now);
      names[flow.value] = ++next;
      slow[next] = {{LinkId(a), LinkId(b)}, static_cast<double>(bytes), 0};
    }
    std::vector<double> counts(6);
    for (const auto& [id, flow] : slow) {
      for (const LinkId link : flow.path) ++counts[link.value];
    }
    for (auto at = slow.begin(); at != slow.end();) {
      double rate = 1e18;
      for (const LinkId link : at->second.path) {
        rate = std::min(rate, widths[link.value] / counts[link.value]);
      }
      at->second.left -= rate * kStep;
      if (at->second.left <= 0) slow_ends[at->first] = now.seconds() + kStep;
      at = at->second.left <= 0 ? slow.erase(at) : std::next(at);
    }
  }
  EXPECT_GT(next, 150u);
  EXPECT_EQ(links.flows(), 0u);
  ASSERT_EQ(fast_ends.size(), slow_ends.size());
  for (const auto& [id, end] : fast_ends) EXPECT_NEAR(end, slow_ends[id], 0.0005) << id;
}

}  // namespace
}  // namespace troupe
