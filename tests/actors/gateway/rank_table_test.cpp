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
  const RankTable::Place first = *table.place("m");
  const RankTable::Place second = *table.place("m");
  EXPECT_NE(first.rank, second.rank);
  table.release(first);
  EXPECT_EQ(table.place("m")->rank, first.rank);
}

TEST(RankTable, ARepeatedIntroductionKeepsTheLoad) {
  RankTable table;
  table.join(joined(1, 1));
  const auto placed = table.place("m");
  ASSERT_TRUE(placed.ok());
  table.join(joined(1, 1));
  EXPECT_EQ(table.place("m").error().code, Code::kUnavailable);
  table.release(*placed);
  EXPECT_TRUE(table.place("m").ok());
}

TEST(RankTable, RefusalsSayWhy) {
  RankTable table;
  EXPECT_EQ(table.place("m").error().code, Code::kUnavailable);
  table.join(joined(1, 1, "script/*"));
  EXPECT_EQ(table.place("m").error().code, Code::kNotFound);
  EXPECT_TRUE(table.place("script/hello").ok());
  EXPECT_TRUE(table.models().empty());
}

TEST(RankTable, ARanksLossKeepsOthersLoads) {
  RankTable table;
  table.join(joined(1, 5));
  const RankTable::Place lost = *table.place("m");
  table.leave(lost.rank);
  table.join(joined(2, 1));
  EXPECT_TRUE(table.place("m").ok());
  table.release(lost);  // no other rank's load changes
  EXPECT_FALSE(table.place("m").ok());
}

}  // namespace
}  // namespace troupe
