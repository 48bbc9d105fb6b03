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

// These rows are what HF tokenizers gives for DeepSeek's file.
TEST(PreTokenizer, deepseek_takes_numbers_and_ideographs_out_first) {
  EXPECT_EQ(words("deepseek-v3", "12345a ½²③Ⅷ6"), "123|45|a| |½²③|Ⅷ6");
  EXPECT_EQ(words("deepseek-v3", "カ・ナ\n中文x 字"), "カ|・|ナ|\n|中文|x| |字");
  EXPECT_EQ(words("deepseek-v3", "中 文  字\n 1"), "中| |文|  |字|\n| |1");
  EXPECT_EQ(words("deepseek-v3", "  12"), "  |12");
}

TEST(PreTokenizer, deepseek_joins_signs_letters_and_line_ends_in_its_own_way) {
  EXPECT_EQ(words("deepseek-v3", "Hello, it's (fine).\n\n  x"),
            "Hello|,| it|'s| (|fine|).\n\n| | x");
  EXPECT_EQ(words("deepseek-v3", "don't;\r\n\r\n  {\"k\": 1}"),
            "don|'t|;\r\n\r\n| | {\"|k|\":| |1|}");
  EXPECT_EQ(words("deepseek-v3", "a\u0301b !\u0301c"), "a\u0301b| !|\u0301c");
  EXPECT_EQ(words("deepseek-v3", "'été"), "'|été");
  EXPECT_EQ(words("deepseek-v3",
                  "\x01\x01 a\x01"
                  "b"),
            "\x01\x01| a|\x01"
            "b");
}

TEST(PreTokenizer, characters_of_unicode_16_are_known) {
  EXPECT_EQ(words("deepseek-v3", "a \U0001FAE9"), "a| \U0001FAE9");  // a new emoji is a sign
  EXPECT_EQ(words("deepseek-v3", "a\u1C89"), "a\u1C89");             // a new letter
  EXPECT_EQ(words("deepseek-v3", "a \U0001FAF9\u0378"), "a| |\U0001FAF9\u0378");  // both unassigned
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
    for (const auto name : {"gpt-2", "smollm", "llama-bpe", "qwen2", "deepseek-v3"}) {
      EXPECT_NE(words(name, text), "bad length");
    }
  }
}

}  // namespace
}  // namespace troupe
