// The heap of ends against a sorted set.
#include "runtime/simulation/end_heap.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

/// (end, how many were added before) in order, and each flow's.
struct SortedEnds {
  using Key = std::pair<std::int64_t, std::uint64_t>;
  std::map<Key, std::uint32_t> flows;
  std::map<std::uint32_t, Key> keys;
  std::uint64_t added = 0;

  void add(std::uint32_t flow, std::int64_t at) {
    keys[flow] = {at, added++};
    flows[keys[flow]] = flow;
  }
  void move(std::uint32_t flow, std::int64_t at) {
    flows.erase(keys[flow]);
    keys[flow].first = at;
    flows[keys[flow]] = flow;
  }
  void erase(std::uint32_t flow) {
    flows.erase(keys[flow]);
    keys.erase(flow);
  }
};

TEST(EndHeap, EqualEndsComeInTheOrderInWhichTheyWereAdded) {
  EndHeap heap;
  for (const std::uint32_t flow : {7u, 3u, 5u, 1u}) heap.add(flow, Time(10));
  heap.move(7, Time(20));
  heap.move(7, Time(10));
  for (const std::uint32_t flow : {7u, 3u, 5u, 1u}) {
    ASSERT_EQ(heap.soonest_flow(), flow);
    heap.erase(flow);
  }
  EXPECT_TRUE(heap.empty());
}

TEST(EndHeap, AgreesWithASortedSet) {
  constexpr std::uint32_t kFlows = 200;
  Rng rng(5);
  EndHeap heap;
  SortedEnds sorted;
  for (int step = 0; step < 50'000; ++step) {
    const auto flow = static_cast<std::uint32_t>(rng.below(kFlows));
    const auto at = static_cast<std::int64_t>(rng.below(300));
    const bool there = sorted.keys.count(flow) > 0;
    if (!there) {
      heap.add(flow, Time(at));
      sorted.add(flow, at);
    } else if (rng.chance(0.6)) {
      heap.move(flow, Time(at));
      sorted.move(flow, at);
    } else {
      const std::uint32_t goes = rng.chance(0.5) ? flow : heap.soonest_flow();
      heap.erase(goes);
      sorted.erase(goes);
    }
    ASSERT_EQ(heap.size(), sorted.keys.size());
    if (heap.empty()) continue;
    ASSERT_EQ(heap.soonest().value, sorted.flows.begin()->first.first) << "step " << step;
    ASSERT_EQ(heap.soonest_flow(), sorted.flows.begin()->second) << "step " << step;
  }
}

}  // namespace
}  // namespace troupe
