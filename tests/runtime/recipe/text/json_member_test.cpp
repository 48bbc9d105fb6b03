// One member of an object, however the rest of it looks.
#include "runtime/recipe/text/json_member.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

TEST(JsonMember, TheValueAsItIsWritten) {
  const char* body = R"( { "a" : [1, {"b":"}]\""} ] , "b":"x\"y","c":-1.5e3 ,"d":null,"e":{}} )";
  EXPECT_EQ(json_member(body, "a"), R"([1, {"b":"}]\""} ])");
  EXPECT_EQ(json_member(body, "b"), R"("x\"y")");
  EXPECT_EQ(json_member(body, "c"), "-1.5e3");
  EXPECT_EQ(json_member(body, "d"), "null");
  EXPECT_EQ(json_member(body, "e"), "{}");
  EXPECT_EQ(json_member(body, "f"), std::nullopt);
}

TEST(JsonMember, TheLastOfSeveralAndKeysWithEscapes) {
  EXPECT_EQ(json_member(R"({"a":1,"\u0061":2})", "a"), "2");
  EXPECT_EQ(json_member(R"({"a":1,"b":{"a":3},"a":"2"})", "a"), R"("2")");
}

TEST(JsonMember, WhatIsNoJsonEndsSomewhere) {
  for (const char* text : {"", "{", "[1]", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":}", "{\"a\":[",
                           "{\"a\":\"x", "{\"a\":\"x\\", "{]", "{\"b\":1]\"a\":2}", "x"}) {
    EXPECT_EQ(json_member(text, "a"), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace troupe
