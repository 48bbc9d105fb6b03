#include "runtime/recipe/tokenizer/pre_tokenizer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

/// The words of a text, shown with '|' between them.
std::string words(std::string_view name, std::string_view text) {
  const auto split = find_pre_tokenizer(name);
  EXPECT_TRUE(split.ok());
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = split->first_word(text);
    if (length == 0 || length > text.size()) return "bad length";
    if (!shown.empty()) shown += '|';
    shown += text.substr(0, length);
    text.remove_prefix(length);
  }
  return shown;
}

// The expected rows of this file are what the expressions give in Python's `regex` module.
TEST(PreTokenizer, gpt2_splits_words_numbers_and_spaces) {
  EXPECT_EQ(words("gpt-2", "Hello world  x"), "Hello| world| | x");
  EXPECT_EQ(words("gpt-2", "don't DON'T 'll"), "don|'t| DON|'|T| '|ll");
  EXPECT_EQ(words("gpt-2", "a1234 b ++c"), "a|1234| b| ++|c");
  EXPECT_EQ(words("gpt-2", "x \n\n y"), "x| \n\n| y");
  EXPECT_EQ(words("gpt-2", "x \n"), "x| \n");
  EXPECT_EQ(words("gpt-2", "  12"), " | 12");
  EXPECT_EQ(words("default", "\xC2\xA0\xE3\x80\x80z"), "\xC2\xA0|\xE3\x80\x80|z");
}

TEST(PreTokenizer, smollm_takes_every_number_alone) {
  EXPECT_EQ(words("smollm", "v1.25 x"), "v|1|.|2|5| x");
  EXPECT_EQ(words("smollm", "a  12"), "a|  |1|2");
  EXPECT_EQ(words("smollm", "a \n 1"), "a| \n |1");
  EXPECT_EQ(words("smollm", "½ ²Ⅷ"), "½| |²|Ⅷ");
  EXPECT_EQ(words("smollm", "a  b"), "a| | b");
}

TEST(PreTokenizer, llama_bpe_keeps_line_ends_and_three_digits) {
  EXPECT_EQ(words("llama-bpe", "12345 67"), "123|45| |67");
  EXPECT_EQ(words("llama-bpe", "I'LL we've 'ſo"), "I|'LL| we|'ve| '|ſo");
  EXPECT_EQ(words("llama-bpe", "x'ſo"), "x|'ſ|o");
  EXPECT_EQ(words("llama-bpe", "a;\n\n b"), "a|;\n\n| b");
  EXPECT_EQ(words("llama-bpe", "  \n  x"), "  \n| | x");
  EXPECT_EQ(words("llama-bpe", "\tfoo(bar) !x"), "\tfoo|(bar|)| !|x");
  EXPECT_EQ(words("llama-bpe", "\nfoo"), "\n|foo");
}

TEST(PreTokenizer, qwen2_takes_one_digit) {
  EXPECT_EQ(words("qwen2", "a 12\r\n"), "a| |1|2|\r\n");
}

TEST(PreTokenizer, bytes_that_are_no_character_are_neither_letter_nor_space) {
  EXPECT_EQ(words("gpt-2", "a\xFF\xC3 b"), "a|\xFF\xC3| b");
  EXPECT_EQ(words("llama-bpe", "\xF0\x9F"), "\xF0\x9F");
}

TEST(PreTokenizer, an_unknown_one_is_named) {
  const auto split = find_pre_tokenizer("mystery");
  ASSERT_FALSE(split.ok());
  EXPECT_EQ(split.error().code, Code::kUnsupported);
  EXPECT_NE(split.error().message.find("\"mystery\""), std::string::npos);
}

TEST(PreTokenizer, words_cover_random_bytes) {
  Rng rng(7);
  for (int round = 0; round < 2'000; ++round) {
    std::string text(1 + rng.below(40), '\0');
    for (char& c : text)
      c = rng.chance(0.5) ? " \n1a'"[rng.below(5)] : static_cast<char>(rng.next());
    for (const auto name : {"gpt-2", "smollm", "llama-bpe", "qwen2"}) {
      EXPECT_NE(words(name, text), "bad length");
    }
  }
}

}  // namespace
}  // namespace troupe
