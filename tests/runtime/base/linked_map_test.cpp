// A map in the order of insertion: the same answers as a list of pairs gives.
#include "runtime/base/linked_map.hpp"

#include <gtest/gtest.h>

#include <string>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

TEST(LinkedMap, KeepsTheOrderOfInsertion) {
  LinkedMap<RequestId, std::string> map;
  std::vector<std::pair<RequestId, std::string>> expected;
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    const RequestId key(1 + rng.below(300));
    const auto at = std::find_if(expected.begin(), expected.end(),
                                 [&](const auto& one) { return one.first == key; });
    ASSERT_EQ(map.contains(key), at != expected.end());
    if (at == expected.end()) {
      const std::string value = std::to_string(i);
      if (i % 2 == 0) {
        map.emplace(key, value);
      } else {
        map[key] = value;
      }
      expected.emplace_back(key, value);
    } else {
      EXPECT_EQ(map.at(key), at->second);
      EXPECT_EQ(map.find(key)->second, at->second);
      EXPECT_TRUE(map.erase(key));
      expected.erase(at);
    }
    ASSERT_EQ(map.size(), expected.size());
  }
  auto next = expected.begin();
  for (const auto& [key, value] : map) {
    ASSERT_NE(next, expected.end());
    EXPECT_EQ(key, next->first);
    EXPECT_EQ(value, next->second);
    ++next;
  }
  EXPECT_EQ(next, expected.end());
  EXPECT_FALSE(map.erase(RequestId(1'000)));
}

TEST(LinkedMap, PointersHoldWhileOthersCome) {
  LinkedMap<std::uint64_t, int> map;
  int& first = map.emplace(1, 10);
  for (std::uint64_t key = 2; key < 1'000; ++key) map.emplace(key, 0);
  first = 11;
  EXPECT_EQ(map.at(1), 11);
}

}  // namespace
}  // namespace troupe
