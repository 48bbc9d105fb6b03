#include "runtime/base/flat_map.hpp"

#include <gtest/gtest.h>

#include <map>

namespace troupe {
namespace {

TEST(FlatMap, AgreesWithStdMap) {
  Rng rng(5);
  FlatMap<std::uint64_t> map;
  std::map<std::uint64_t, std::uint64_t> model;
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t key = 1 + rng.below(3000);
    if (model.contains(key)) {
      ASSERT_EQ(*map.find(key), model[key]);
      ASSERT_TRUE(map.erase(key));
      model.erase(key);
    } else {
      ASSERT_EQ(map.find(key), nullptr);
      ASSERT_FALSE(map.erase(key));
      map.insert(key, rng.next());
      model[key] = *map.find(key);
    }
  }
  ASSERT_EQ(map.size(), model.size());
  for (const auto& [key, value] : model) ASSERT_EQ(*map.find(key), value);
  decltype(model) seen;
  map.for_each([&](std::uint64_t key, std::uint64_t value) {
    EXPECT_TRUE(seen.emplace(key, value).second);
    map.fetch(key);  // changes nothing
  });
  EXPECT_EQ(seen, model);
}

TEST(FlatMap, HasNoKeyZero) {
  FlatMap<int> map;
  EXPECT_EQ(map.find(0), nullptr);
  EXPECT_THROW(map.insert(0, 1), AssertionFailure);
}

}  // namespace
}  // namespace troupe
