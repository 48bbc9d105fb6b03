#include "runtime/recipe/text/utf8.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

TEST(Utf8, non_text_is_found_wherever_it_lies) {
  const std::string text = "plain text, ümläuts, 漢字, 😀\t\r\n and more plain text behind";
  EXPECT_EQ(find_non_text(text), std::nullopt);
  EXPECT_TRUE(is_valid_utf8(text));
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const bool inside = at < text.size() && (text[at] & 0xC0) == 0x80;
    if (inside) continue;
    for (const std::string bad : {"\xFF", "\xED\xA0\x80", "\xC0\x80", "\xF5", "\x1A", "\x01"}) {
      const std::string broken = text.substr(0, at) + bad + text.substr(at);
      EXPECT_EQ(find_non_text(broken), at);
      EXPECT_EQ(is_valid_utf8(broken), static_cast<unsigned char>(bad[0]) < 0x20);
    }
  }
  EXPECT_EQ(find_non_text(std::string("12345678\0abc", 12)), 8u);
  EXPECT_EQ(find_non_text("cut \xE6\xBC"), 4u);
}

TEST(Utf8, shortened_keeps_both_ends_and_whole_characters) {
  EXPECT_EQ(shortened("0123456789abcdef", 16), "0123456789abcdef");
  EXPECT_EQ(shortened("0123456789abcdefg", 16), "01234567 ... efg");
  for (const std::string unit : {"ä", "漢", "😀"}) {
    std::string text = "begin";
    for (int i = 0; i < 1000; ++i) text += unit;
    text += "end";
    for (std::size_t bytes_max = 32; bytes_max < 64; ++bytes_max) {
      const std::string cut = shortened(text, bytes_max);
      EXPECT_LE(cut.size(), bytes_max);
      EXPECT_GE(cut.size(), bytes_max - 6) << "no more is cut than it must be";
      EXPECT_TRUE(is_valid_utf8(cut)) << cut;
      EXPECT_TRUE(cut.starts_with("begin" + unit) && cut.ends_with(unit + "end")) << cut;
    }
  }
}

}  // namespace
}  // namespace troupe
