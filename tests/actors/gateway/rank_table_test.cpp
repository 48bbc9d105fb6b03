#include "actors/gateway/rank_table.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

ActorRef rank_ref(std::uint64_t local) {
  return ActorRef{NodeId(0), 1, local, 1};
}

RankJoined joined(std::uint64_t local, std::uint32_t capacity, const char* model = "m") {
  RankJoined message;
  message.rank = rank_ref(local);
  message.models = {model};
  message.capacity = capacity;
  return message;
}

TEST(RankTable, LeastLoadedFirstThenLongestUnused) {
  RankTable table;
  table.join(joined(1, 10));
  table.join(joined(2, 10));
  const ActorRef first = *table.place(rank_ref(100), "m");
  const ActorRef second = *table.place(rank_ref(101), "m");
  EXPECT_NE(first, second);
  table.release(rank_ref(100));
  EXPECT_EQ(*table.place(rank_ref(102), "m"), first);
}

TEST(RankTable, ARepeatedIntroductionKeepsTheLoad) {
  RankTable table;
  table.join(joined(1, 1));
  EXPECT_TRUE(table.place(rank_ref(100), "m").ok());
  table.join(joined(1, 1));
  EXPECT_EQ(table.place(rank_ref(101), "m").error().code, Code::kUnavailable);
  table.release(rank_ref(100));
  EXPECT_TRUE(table.place(rank_ref(102), "m").ok());
}

TEST(RankTable, RefusalsSayWhy) {
  RankTable table;
  EXPECT_EQ(table.place(rank_ref(1), "m").error().code, Code::kUnavailable);
  table.join(joined(1, 1, "script/*"));
  EXPECT_EQ(table.place(rank_ref(1), "m").error().code, Code::kNotFound);
  EXPECT_TRUE(table.place(rank_ref(1), "script/hello").ok());
  EXPECT_TRUE(table.models().empty());
}

TEST(RankTable, ARanksLossKeepsOthersLoads) {
  RankTable table;
  table.join(joined(1, 5));
  const ActorRef lost = *table.place(rank_ref(100), "m");
  table.leave(lost);
  table.join(joined(2, 1));
  EXPECT_TRUE(table.place(rank_ref(101), "m").ok());
  table.release(rank_ref(100));  // placed on the lost rank: no other rank's load changes
  EXPECT_FALSE(table.place(rank_ref(102), "m").ok());
}

}  // namespace
}  // namespace troupe
