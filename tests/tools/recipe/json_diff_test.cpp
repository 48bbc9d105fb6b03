#include "tools/recipe/json_diff.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace troupe {
namespace {

/// "where | expected | got" of the first difference, or "".
std::string diff(std::string_view expected, std::string_view got) {
  const auto found = first_difference("v", expected, got);
  return found ? found->where + " | " + found->expected + " | " + found->got : "";
}

TEST(JsonDiff, equal_values_have_none) {
  for (const char* value :
       {"null", "true", "1", "-0.5e3", "\"a\\n\"", "[]", "{}", R"({"a":[1,{"b":null}],"c":"d"})"}) {
    EXPECT_EQ(diff(value, value), "");
  }
  EXPECT_EQ(diff("1", "1.0"), "");
  EXPECT_EQ(diff("\"\\u00e9\"", "\"é\""), "");
  EXPECT_EQ(diff("{ \"a\" : 1 }", "{\"a\":1}"), "");
}

TEST(JsonDiff, names_the_place_and_both_values) {
  EXPECT_EQ(diff("1", "2"), "v | 1 | 2");
  EXPECT_EQ(diff("true", "false"), "v | true | false");
  EXPECT_EQ(diff("null", "[]"), "v | null | []");
  EXPECT_EQ(diff(R"({"a":[1,{"b":2}]})", R"({"a":[1,{"b":3}]})"), "v.a[1].b | 2 | 3");
  EXPECT_EQ(diff("[1,2]", "[1]"), "v[1] | 2 | nothing");
  EXPECT_EQ(diff("[1]", "[1,2]"), "v[1] | nothing | 2");
  EXPECT_EQ(diff(R"({"a":1})", "{}"), "v.a | 1 | nothing");
  EXPECT_EQ(diff("{}", R"({"a":1})"), "v.a | nothing | 1");
  EXPECT_EQ(diff("1", "{"), "v | 1 | {");
}

TEST(JsonDiff, the_order_of_members_counts) {
  EXPECT_EQ(diff(R"({"a":1,"b":2})", R"({"b":2,"a":1})"), "v, member 0 | a | b");
}

TEST(JsonDiff, big_integers_are_told_apart) {
  EXPECT_EQ(diff("9007199254740993", "9007199254740992"),
            "v | 9007199254740993 | 9007199254740992");
}

TEST(JsonDiff, shows_texts_from_before_where_they_differ) {
  const std::string same(100, 'x');
  const auto found = first_difference("v", "\"" + same + "a\"", "\"" + same + "b\"");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->where, "v, byte 100");
  EXPECT_EQ(found->expected, "...\"" + std::string(24, 'x') + "a\"");
  EXPECT_EQ(found->got, "...\"" + std::string(24, 'x') + "b\"");
}

TEST(JsonDiff, a_generated_call_id_matches_its_pattern) {
  const std::string tail =
      "Abcdefghij0123456789"
      "1234";
  EXPECT_EQ(diff("\"call_00_*\"", "\"call_00_" + tail + "\""), "");
  EXPECT_EQ(diff("\"call_00_ET_*\"", "\"call_00_ET_" + tail + "\""), "");
  EXPECT_NE(diff("\"call_00_*\"", "\"call_01_" + tail + "\""), "");
  EXPECT_NE(diff("\"call_00_*\"", "\"call_00_ET_" + tail + "\""), "");
  EXPECT_NE(diff("\"call_00_*\"", "\"call_00_" + tail + "5\""), "");
  EXPECT_NE(diff("\"call_00_*\"", "\"call_00_Abcdefghij012345678_1234\""), "");
  EXPECT_NE(diff("\"call_00_*\"", "\"call_00_Abcdefghij0123456789123x\""), "");
  EXPECT_NE(diff("\"other_*\"", "\"other_" + tail + "\""), "");
}

}  // namespace
}  // namespace troupe
