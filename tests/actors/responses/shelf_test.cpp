// What is kept, in which order it goes, and conversations.
#include <gtest/gtest.h>

#include "actors/responses/response_shelf.hpp"

namespace troupe {
namespace {

constexpr std::int64_t kToday = 1'000'000;

SharedResponse response(const std::string& id, const std::string& previous = "",
                        const std::string& body = "{}") {
  return std::make_shared<const StoredResponse>(StoredResponse{id, previous, kToday, "", body, ""});
}

ShelfLimits limits(std::uint64_t count = 100, std::uint64_t bytes = 10'000) {
  return {count, bytes, 60};
}

std::vector<std::string> ids(const std::vector<SharedResponse>& responses) {
  std::vector<std::string> names;
  for (const auto& one : responses) names.push_back(one->id);
  return names;
}

TEST(ResponseShelf, KeepsFindsAndDrops) {
  ResponseShelf shelf(limits());
  EXPECT_TRUE(shelf.put(response("a", "", "body"), kToday));
  EXPECT_EQ(shelf.find("a", "")->body, "body");
  EXPECT_EQ(shelf.find("b", ""), nullptr);
  EXPECT_TRUE(shelf.drop("a"));
  EXPECT_FALSE(shelf.drop("a"));
  EXPECT_EQ(shelf.bytes(), 0u);
}

TEST(ResponseShelf, OneOfTheSameIdIsReplaced) {
  ResponseShelf shelf(limits());
  shelf.put(response("a", "", "old"), kToday);
  shelf.put(response("a", "", "new!"), kToday);
  EXPECT_EQ(shelf.size(), 1u);
  EXPECT_EQ(shelf.find("a", "")->body, "new!");
  EXPECT_EQ(shelf.bytes(), 5u);
}

TEST(ResponseShelf, OverTheCountTheLeastRecentlyUsedGoes) {
  ResponseShelf shelf(limits(2));
  shelf.put(response("a"), kToday);
  shelf.put(response("b"), kToday);
  EXPECT_TRUE(shelf.conversation("a", "", kToday).ok());
  shelf.put(response("c"), kToday);
  EXPECT_EQ(ids(shelf.all()), (std::vector<std::string>{"a", "c"}));
}

TEST(ResponseShelf, OverTheBytesTheOldestGoAndTheTooLargeNeverComes) {
  ResponseShelf shelf(limits(100, 100));
  shelf.put(response("a", "", std::string(49, 'x')), kToday);
  shelf.put(response("b", "", std::string(49, 'x')), kToday);
  EXPECT_EQ(shelf.size(), 2u);
  shelf.put(response("c", "", "x"), kToday);
  EXPECT_EQ(ids(shelf.all()), (std::vector<std::string>{"b", "c"}));
  EXPECT_FALSE(shelf.put(response("d", "", std::string(100, 'x')), kToday));
  EXPECT_EQ(shelf.size(), 2u);
  EXPECT_LE(shelf.bytes(), 100u);
}

TEST(ResponseShelf, WhatNobodyUsesGoesAfterItsTime) {
  ResponseShelf shelf(limits());
  shelf.put(response("a"), kToday);
  shelf.put(response("b"), kToday + 30);
  shelf.expire(kToday + 59);
  EXPECT_EQ(shelf.size(), 2u);
  shelf.expire(kToday + 60);
  EXPECT_EQ(ids(shelf.all()), (std::vector<std::string>{"b"}));
}

TEST(ResponseShelf, AUseThatLiesAheadCountsAsOneNow) {
  ResponseShelf shelf(limits());
  shelf.put(response("future"), kToday + 1'000'000);
  shelf.put(response("old"), kToday);
  EXPECT_EQ(shelf.size(), 2u) << "nothing expires by the clock of what is put";
  shelf.expire(kToday + 60);
  EXPECT_EQ(ids(shelf.all()), (std::vector<std::string>{"future"})) << "it holds up nobody's end";
  shelf.expire(kToday + 120);
  EXPECT_EQ(shelf.size(), 0u);
}

TEST(ResponseShelf, OnlyItsOwnerFindsAResponse) {
  ResponseShelf shelf(limits());
  shelf.put(
      std::make_shared<const StoredResponse>(StoredResponse{"a", "", kToday, "", "{}", "alice"}),
      kToday);
  EXPECT_NE(shelf.find("a", "alice"), nullptr);
  EXPECT_EQ(shelf.find("a", "bob"), nullptr);
  EXPECT_EQ(shelf.find("a", ""), nullptr);
  EXPECT_TRUE(shelf.conversation("a", "alice", kToday).ok());
  EXPECT_EQ(shelf.conversation("a", "bob", kToday).error().code, Code::kNotFound);
}

TEST(ResponseShelf, AConversationComesWholeAndInOrder) {
  ResponseShelf shelf(limits());
  shelf.put(response("a"), kToday);
  shelf.put(response("other"), kToday);
  shelf.put(response("b", "a"), kToday);
  shelf.put(response("c", "b"), kToday);
  EXPECT_EQ(ids(shelf.conversation("c", "", kToday).value()),
            (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(ids(shelf.conversation("b", "", kToday).value()), (std::vector<std::string>{"a", "b"}));
}

TEST(ResponseShelf, GoingOnKeepsTheBeginningOfAConversation) {
  ResponseShelf shelf(limits(3));
  shelf.put(response("a"), kToday);
  shelf.put(response("other"), kToday);
  shelf.put(response("b", "a"), kToday + 50);
  // Over the count: "other" goes, not "a".
  shelf.put(response("c", "b"), kToday + 50);
  EXPECT_TRUE(shelf.conversation("c", "", kToday + 50).ok());
  shelf.expire(kToday + 100);
  EXPECT_TRUE(shelf.conversation("c", "", kToday + 100).ok()) << "used 50 s ago";
}

TEST(ResponseShelf, AMissingLinkIsNamed) {
  ResponseShelf shelf(limits());
  shelf.put(response("b", "a"), kToday);
  const auto chain = shelf.conversation("b", "", kToday);
  EXPECT_EQ(chain.error().code, Code::kNotFound);
  EXPECT_NE(chain.error().message.find("'a'"), std::string::npos);
  EXPECT_EQ(shelf.conversation("nobody", "", kToday).error().code, Code::kNotFound);
}

TEST(ResponseShelf, ACircleFromAHostileFileEnds) {
  ResponseShelf shelf(limits(10, 1'000'000));
  shelf.put(response("a", "b"), kToday);
  shelf.put(response("b", "a"), kToday);
  EXPECT_EQ(shelf.conversation("a", "", kToday).error().code, Code::kTooLarge);
}

}  // namespace
}  // namespace troupe
