#include "actors/gateway/rank_table.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

ActorRef actor(std::uint64_t local) {
  return ActorRef{NodeId(0), 1, local, 1};
}

RankJoined joined(std::uint64_t local, std::uint32_t capacity, const char* model = "m") {
  RankJoined message;
  message.rank = actor(local);
  message.models = {model};
  message.capacity = capacity;
  return message;
}

TEST(RankTable, LeastLoadedFirstThenLongestUnused) {
  RankTable table;
  table.join(joined(1, 10));
  table.join(joined(2, 10));
  const ActorRef first = *table.place(actor(100), "m");
  const ActorRef second = *table.place(actor(101), "m");
  EXPECT_NE(first, second);
  table.release(actor(100));
  EXPECT_EQ(*table.place(actor(102), "m"), first);
}

TEST(RankTable, ARepeatedIntroductionKeepsTheLoad) {
  RankTable table;
  table.join(joined(1, 1));
  EXPECT_TRUE(table.place(actor(100), "m").ok());
  table.join(joined(1, 1));
  EXPECT_EQ(table.place(actor(101), "m").error().code, Code::kUnavailable);
  table.release(actor(100));
  EXPECT_TRUE(table.place(actor(102), "m").ok());
}

TEST(RankTable, RefusalsSayWhy) {
  RankTable table;
  EXPECT_EQ(table.place(actor(1), "m").error().code, Code::kUnavailable);
  table.join(joined(1, 1, "script/*"));
  EXPECT_EQ(table.place(actor(1), "m").error().code, Code::kNotFound);
  EXPECT_TRUE(table.place(actor(1), "script/hello").ok());
  EXPECT_TRUE(table.models().empty());
}

TEST(RankTable, ARanksLossKeepsOthersLoads) {
  RankTable table;
  table.join(joined(1, 5));
  const ActorRef lost = *table.place(actor(100), "m");
  table.leave(lost);
  table.join(joined(2, 1));
  EXPECT_TRUE(table.place(actor(101), "m").ok());
  table.release(actor(100));  // placed on the lost rank: no other rank's load changes
  EXPECT_FALSE(table.place(actor(102), "m").ok());
}

}  // namespace
}  // namespace troupe
