#include "runtime/kv/block_pool.hpp"

#include <gtest/gtest.h>

#include "runtime/base/assert.hpp"

namespace troupe {
namespace {

TEST(BlockPool, TakesAllOrNothing) {
  BlockPool pool(3);
  std::vector<BlockId> a, b;
  EXPECT_TRUE(pool.take(2, a));
  EXPECT_FALSE(pool.take(2, b));
  EXPECT_TRUE(b.empty());
  EXPECT_EQ(pool.held(), 2u);
  pool.give_back(a);
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(pool.free(), 3u);
}

TEST(BlockPool, GivesTheLowestIdsFirst) {
  BlockPool pool(4);
  std::vector<BlockId> a, b, c;
  ASSERT_TRUE(pool.take(2, a));
  ASSERT_TRUE(pool.take(1, b));
  pool.give_back(a);
  ASSERT_TRUE(pool.take(1, c));
  EXPECT_EQ(c[0], BlockId(0));
}

TEST(BlockPool, NoticesABlockThatIsGivenBackTwice) {
  BlockPool pool(2);
  std::vector<BlockId> a;
  ASSERT_TRUE(pool.take(1, a));
  std::vector<BlockId> copy = a;
  pool.give_back(a);
  EXPECT_THROW(pool.give_back(copy), AssertionFailure);
}

}  // namespace
}  // namespace troupe
