#include "runtime/recipe/text/json_string.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/recipe/text/json_writer.hpp"

namespace troupe {
namespace {

std::string string_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonString, only_what_must_be_is_escaped) {
  EXPECT_EQ(string_json(""), R"("")");
  EXPECT_EQ(string_json("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(string_json("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(string_json(std::string("\0\x01\x1F", 3)), R"("\u0000\u0001\u001f")");
  EXPECT_EQ(string_json("\x7F é漢😀\u2028"), "\"\x7F é漢😀\u2028\"");
}

TEST(JsonString, bytes_that_are_no_character_are_replaced) {
  EXPECT_EQ(string_json("a\xFF\"\n"), "\"a\uFFFD\\\"\\n\"");
  EXPECT_EQ(string_json("cut \xE6\xBC"), "\"cut \uFFFD\"");
  EXPECT_EQ(string_json("\xED\xA0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");
}

TEST(JsonWriter, writes_what_json_has) {
  JsonWriter json;
  json.open_object().key("a").open_array();
  json.number(std::int64_t{-9}).number(std::uint64_t{18'446'744'073'709'551'615u});
  json.real(0.1).real(-1e300).real(NAN).real(INFINITY).boolean(true).null();
  json.close_array().key("b\xFF").text_or_null("").key("c").text_or_null("d").close_object();
  EXPECT_EQ(json.take(),
            "{\"a\":[-9,18446744073709551615,0.1,-1e+300,null,null,true,null],"
            "\"b\uFFFD\":null,\"c\":\"d\"}");
  EXPECT_EQ(json.take(), "");
}

}  // namespace
}  // namespace troupe
