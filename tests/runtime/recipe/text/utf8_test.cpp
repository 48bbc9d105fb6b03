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

}  // namespace
}  // namespace troupe
