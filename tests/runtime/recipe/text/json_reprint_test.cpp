#include "runtime/recipe/text/json_reprint.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace troupe {
namespace {

std::string printed(std::string_view json, JsonStyle style = kCompactJson) {
  std::string out;
  return reprint_json(json, style, out) ? out : "invalid";
}

TEST(JsonReprint, styles_differ_in_spaces_and_small_numbers) {
  const char* json = R"( { "b" : [1 , 2.50, null,true ,false] , "a":{ } ,"c":1e-6} )";
  EXPECT_EQ(printed(json), R"({"b":[1,2.5,null,true,false],"a":{},"c":1e-6})");
  EXPECT_EQ(printed(json, kPromptJsonV4),
            R"({"b": [1, 2.5, null, true, false], "a": {}, "c": 1e-6})");
  EXPECT_EQ(printed(json, kPromptJsonV41),
            R"({"b": [1, 2.5, null, true, false], "a": {}, "c": 1e-06})");
}

TEST(JsonReprint, integers_stay_and_others_are_shortest_doubles) {
  const std::pair<const char*, const char*> cases[] = {
      {"0", "0"},
      {"-7", "-7"},
      {"18446744073709551615", "18446744073709551615"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"18446744073709551616", "1.8446744073709552e+19"},
      {"-0", "-0.0"},
      {"-0.0", "-0.0"},
      {"1.0", "1.0"},
      {"1e2", "100.0"},
      {"1.25E-6", "1.25e-6"},
      {"0.00001", "0.00001"},
      {"9999999999999998.0", "9999999999999998.0"},
      {"1e16", "1e+16"},
      {"123456.75", "123456.75"},
      {"0.1", "0.1"},
      {"1e-400", "0.0"},
      {"5e-324", "5e-324"},
  };
  for (const auto& [in, out] : cases) EXPECT_EQ(printed(in), out) << in;
  EXPECT_EQ(printed("0.00001", kPromptJsonV41), "1e-05");
  EXPECT_EQ(printed("0.0001", kPromptJsonV41), "0.0001");
  EXPECT_EQ(printed("1e16", kPromptJsonV41), "1e+16");
}

TEST(JsonReprint, numbers_beyond_the_doubles_are_refused_in_any_spelling) {
  EXPECT_EQ(printed("1e400"), "invalid");
  EXPECT_EQ(printed("-1e309"), "invalid");
  EXPECT_EQ(printed(std::string(400, '9')), "invalid");
  EXPECT_EQ(printed("0." + std::string(400, '0') + "1"), "0.0");
  EXPECT_EQ(printed("1e-99999999999999999999"), "0.0");
  EXPECT_EQ(printed("0e99999999"), "invalid");  // refused before its value is known
}

TEST(JsonReprint, every_printed_double_reads_back_as_itself) {
  std::uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    double value;
    static_assert(sizeof value == sizeof state);
    std::memcpy(&value, &state, sizeof value);
    if (!std::isfinite(value)) continue;
    char token[40];
    std::snprintf(token, sizeof token, "%.17g", value);
    for (const JsonStyle style : {kPromptJsonV4, kPromptJsonV41}) {
      EXPECT_EQ(json_number_value(printed(token, style)), value) << token;
    }
  }
}

TEST(JsonReprint, strings_escape_only_what_must_be) {
  EXPECT_EQ(printed(R"("\u0000\u001f\b\f\n\r\t\"\\\/\u007f\u2028\ud83d\ude00é")"),
            "\"\\u0000\\u001f\\b\\f\\n\\r\\t\\\"\\\\/\x7f\u2028😀é\"");
}

TEST(JsonReprint, of_duplicate_keys_the_first_place_and_the_last_value_count) {
  EXPECT_EQ(printed(R"({"a":1,"b":{"x":1,"x":[2]},"a":{"c":3},"a":4})"),
            R"({"a":4,"b":{"x":[2]}})");
  EXPECT_EQ(printed(R"({"\u0061":1,"a":2})"), R"({"a":2})");
}

TEST(JsonReprint, many_duplicates_take_no_quadratic_time) {
  std::string json = "{";
  for (int i = 0; i < 200'000; ++i)
    json += "\"k" + std::to_string(i % 3) + "\":" + std::to_string(i) + ",";
  json += "\"z\":0}";
  EXPECT_EQ(printed(json), R"({"k0":199998,"k1":199999,"k2":199997,"z":0})");
}

TEST(JsonReprint, what_is_no_json_is_refused_whole) {
  for (const std::string bad : {"",
                                " ",
                                "{",
                                "[1,]",
                                "{\"a\":1,}",
                                "nul",
                                "01",
                                "+1",
                                ".5",
                                "1.",
                                "NaN",
                                "'a'",
                                "\"a",
                                "\"\t\"",
                                "\"\x1a\"",
                                "\"\xff\"",
                                "\"\xed\xa0\x80\"",
                                "\"\\ud800\"",
                                "\"\\udc00\"",
                                "\"\\ud83d\\u0041\"",
                                "\"\\x\"",
                                "1 2",
                                "{} x",
                                "// c\n1",
                                "[1}",
                                "{1:2}"}) {
    EXPECT_EQ(printed(bad), "invalid") << bad;
  }
  EXPECT_EQ(printed(std::string("1\0", 2)), "invalid");
  EXPECT_EQ(printed(std::string("1\0 2", 4)), "invalid");
}

TEST(JsonReprint, nesting_is_bounded) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_EQ(printed(nested(kJsonDepthMax)), nested(kJsonDepthMax));
  EXPECT_EQ(printed(nested(kJsonDepthMax + 1)), "invalid");
  EXPECT_EQ(printed(std::string(1'000'000, '[')), "invalid");
}

TEST(JsonReprint, members_are_bounded) {
  std::string json = "[0";
  for (std::size_t i = 2; i < JsonTape::kNodesMax; ++i) json += ",0";
  EXPECT_EQ(printed(json + "]"), json + "]");
  EXPECT_EQ(printed(json + ",0]"), "invalid");
}

TEST(JsonTape, finds_and_counts_members) {
  const auto document = JsonDocument::parse(R"({"a":[1,2,3],"b":{"c":"d"},"a":[4]})");
  ASSERT_TRUE(document);
  const JsonTape& tape = document->tape();
  const auto a = tape.find(JsonDocument::kRoot, "a");
  EXPECT_EQ(tape.count(a), 1u);
  EXPECT_EQ(tape.count(JsonDocument::kRoot), 2u);
  const auto b = tape.find(JsonDocument::kRoot, "b");
  EXPECT_EQ(tape.text(tape.find(b, "c")), "d");
  EXPECT_EQ(tape.find(b, "x"), JsonTape::kNone);
  EXPECT_EQ(tape.find(a, "x"), JsonTape::kNone);
}

}  // namespace
}  // namespace troupe
