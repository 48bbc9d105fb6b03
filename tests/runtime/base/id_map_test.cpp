// A map in pages: the same answers as an ordered map gives, and an order that the keys decide.
#include "runtime/base/id_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

TEST(IdMap, AgreesWithATree) {
  IdMap<RequestId, std::string> map;
  std::map<RequestId, std::string> expected;
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    // Neighbours, and keys of no neighbours; 0 is a key like others.
    const RequestId key(rng.chance(0.7) ? rng.below(300) : rng.below(40) << 58);
    const auto at = expected.find(key);
    ASSERT_EQ(map.contains(key), at != expected.end());
    if (at == expected.end()) {
      const std::string value =
          "a value that is too long for the string's own place " + std::to_string(i);
      if (i % 2 == 0) {
        map.insert(key, value);
      } else {
        map[key] = value;
      }
      expected[key] = value;
    } else {
      EXPECT_EQ(map.at(key), at->second);
      EXPECT_TRUE(map.erase(key));
      EXPECT_FALSE(map.erase(key));
      expected.erase(at);
    }
    ASSERT_EQ(map.size(), expected.size());
    // Changes nothing, be it there or not.
    map.fetch(RequestId(rng.below(300)));
    map.fetch_place(RequestId(rng.below(300)));
  }
  std::map<RequestId, std::string> seen;
  for (const auto& [key, value] : map) EXPECT_TRUE(seen.emplace(key, value).second);
  EXPECT_EQ(seen, expected);
}

TEST(IdMap, IdsInSequenceComeInTheirOrder) {
  IdMap<std::uint64_t, int> map;
  for (std::uint64_t key = 5; key < 500; ++key) map.insert(key, 0);
  for (std::uint64_t key = 5; key < 500; key += 3) map.erase(key);
  std::vector<std::uint64_t> order;
  for (const auto& [key, value] : map) order.push_back(key);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), map.size());
  EXPECT_EQ(map.begin()->first, 6u) << "the oldest";
}

TEST(IdMap, PointersHoldWhileOthersCome) {
  IdMap<std::uint64_t, int> map;
  int& first = map.insert(1, 10);
  for (std::uint64_t key = 2; key < 1'000; ++key) map.insert(key, 0);
  for (std::uint64_t key = 2; key < 1'000; key += 2) map.erase(key);
  first = 11;
  EXPECT_EQ(map.at(1), 11);
}

TEST(IdMap, DestroysWhatItHolds) {
  const auto counted = std::make_shared<int>(0);
  {
    IdMap<std::uint64_t, std::shared_ptr<int>> map;
    for (std::uint64_t key = 0; key < 100; ++key) map.insert(key * 7, counted);
    map.erase(7);
    EXPECT_EQ(counted.use_count(), 100);
    IdMap<std::uint64_t, std::shared_ptr<int>> other(std::move(map));
    EXPECT_EQ(other.size(), 99u);
    EXPECT_EQ(counted.use_count(), 100);
    other = {};
    EXPECT_EQ(counted.use_count(), 1);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace troupe
