// Fluid links against arithmetic by hand, and against a slow simulation in small steps.
#include "runtime/simulation/fluid_links.hpp"

#include <gtest/gtest.h>

#include <map>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

constexpr double kMega = 1e6;

Time at_ms(std::int64_t ms) {
  return Time() + milliseconds(ms);
}

TEST(FluidLinks, OneFlowTakesBytesOverBandwidth) {
  FluidLinks links;
  const LinkId link = links.add_link(1000 * kMega);
  links.start(FlowId(1), Bytes(50'000'000), std::array{link}, Time());
  ASSERT_TRUE(links.next_end());
  EXPECT_EQ(*links.next_end(), at_ms(50));
  EXPECT_TRUE(links.take_ended(at_ms(49)).empty());
  EXPECT_EQ(links.take_ended(at_ms(50)), std::vector{FlowId(1)});
  EXPECT_EQ(links.carried(link), 50e6);
  EXPECT_FALSE(links.next_end());
}

TEST(FluidLinks, AFlowThatNeedsAgesDoesNotEndAtOnce) {
  FluidLinks links;
  const LinkId link = links.add_link(1e-12);
  links.start(FlowId(1), Bytes(50'000'000), std::array{link}, at_ms(1));
  ASSERT_TRUE(links.next_end());
  EXPECT_GT(*links.next_end(), Time() + seconds(1'000'000'000));
  EXPECT_TRUE(links.take_ended(at_ms(1'000'000)).empty());
}

TEST(FluidLinks, TwoShareAndTheRestGetsAll) {
  FluidLinks links;
  const LinkId link = links.add_link(1000 * kMega);
  links.start(FlowId(1), Bytes(50'000'000), std::array{link}, Time());
  // The first has 25 MB left; both run at half speed.
  links.start(FlowId(2), Bytes(50'000'000), std::array{link}, at_ms(25));
  EXPECT_EQ(*links.next_end(), at_ms(75));
  EXPECT_EQ(links.take_ended(at_ms(75)), std::vector{FlowId(1)});
  // The second has 25 MB left, alone.
  EXPECT_EQ(*links.next_end(), at_ms(100));
}

TEST(FluidLinks, ASlowLinkHoldsUpAndACancelFrees) {
  FluidLinks links;
  const LinkId nic_a = links.add_link(100 * kMega);
  const LinkId nic_b = links.add_link(100 * kMega);
  const LinkId spine = links.add_link(150 * kMega);
  links.start(FlowId(1), Bytes(7'500'000), std::array{nic_a, spine}, Time());
  links.start(FlowId(2), Bytes(75'000'000), std::array{nic_b, spine}, Time());
  EXPECT_EQ(*links.next_end(), at_ms(100)) << "7.5 MB at a half of 150 MB/s";
  EXPECT_TRUE(links.cancel(FlowId(2), at_ms(50)));
  EXPECT_FALSE(links.cancel(FlowId(2), at_ms(50)));
  // 3.75 MB left, now at the 100 MB/s of its NIC.
  EXPECT_EQ(*links.next_end(), at_ms(50) + microseconds(37'500));
}

TEST(FluidLinks, ABandwidthThatChangesChangesTheEnd) {
  FluidLinks links;
  const LinkId link = links.add_link(100 * kMega);
  links.start(FlowId(1), Bytes(10'000'000), std::array{link}, Time());
  links.set_bandwidth(link, 10 * kMega, at_ms(50));
  EXPECT_EQ(*links.next_end(), at_ms(550));
}

TEST(FluidLinks, ACrowdSharesOneLink) {
  FluidLinks links;
  const LinkId link = links.add_link(1000 * kMega);
  constexpr std::uint64_t kFlows = 5'000;
  for (std::uint64_t i = 1; i <= kFlows; ++i) {
    links.start(FlowId(i), Bytes(1'000'000), std::array{link},
                Time() + microseconds(static_cast<std::int64_t>(i)));
  }
  std::uint64_t ended = 0;
  double last = 0;
  while (const auto next = links.next_end()) {
    last = next->seconds();
    ended += links.take_ended(*next).size();
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
  std::map<std::uint64_t, double> fast_ends;
  std::map<std::uint64_t, double> slow_ends;
  std::uint64_t next = 0;
  for (std::int64_t step = 0; step < 200'000; ++step) {
    const Time now(step * 10'000);
    for (const FlowId flow : links.take_ended(now)) fast_ends[flow.value] = now.seconds();
    if (step < 100'000 && rng.chance(0.002)) {
      const std::uint32_t a = static_cast<std::uint32_t>(rng.below(6));
      const std::uint32_t b = (a + 1 + static_cast<std::uint32_t>(rng.below(5))) % 6;
      const auto bytes = 100'000 + rng.below(800'000);
      links.start(FlowId(++next), Bytes(bytes), std::array{LinkId(a), LinkId(b)}, now);
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
