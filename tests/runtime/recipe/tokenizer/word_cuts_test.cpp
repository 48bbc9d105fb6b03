#include "runtime/recipe/tokenizer/word_cuts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/recipe/tokenizer/pre_tokenizer.hpp"
#include "tests/runtime/recipe/tokenizer/nasty_text.hpp"

namespace troupe {
namespace {

void append_words(const PreTokenizer& split, std::string_view text,
                  std::vector<std::string>& words) {
  while (!text.empty()) {
    words.emplace_back(text.substr(0, split.first_word(text)));
    text.remove_prefix(words.back().size());
  }
}

TEST(WordCuts, the_parts_have_the_words_of_the_whole_at_every_cut) {
  Rng rng(7);
  for (const auto* family : {"gpt-2", "smollm", "llama-bpe", "qwen2", "deepseek-v3"}) {
    const auto split = find_pre_tokenizer(family).value();
    int cuts = 0;
    for (int round = 0; round < 4'000; ++round) {
      const std::string text = test::nasty_text(rng, 1 + rng.below(30));
      std::vector<std::string> whole;
      append_words(split, text, whole);
      std::size_t from = 1;
      while (true) {
        const std::size_t cut = next_cut(text, from, split.may_cut, false);
        if (cut == text.size()) break;
        ASSERT_GE(cut, from);
        std::vector<std::string> parts;
        append_words(split, std::string_view(text).substr(0, cut), parts);
        append_words(split, std::string_view(text).substr(cut), parts);
        ASSERT_EQ(parts, whole) << family << " at " << cut << " of \"" << text << '"';
        from = cut + 1;
        ++cuts;
      }
    }
    EXPECT_GT(cuts, 10'000) << family;
  }
}

TEST(WordCuts, places_within_characters_or_beside_wrong_bytes_are_none) {
  EXPECT_EQ(next_cut("a\xE4\xB8\xAD", 2, cuts_deepseek, false), 4u);
  EXPECT_EQ(next_cut("a\xE4\xB8 b", 2, cuts_deepseek, false), 5u);
  EXPECT_EQ(next_cut("\xFF b", 1, cuts_words, false), 3u);
  EXPECT_EQ(next_cut("a b", 0, cuts_words, false), 1u);
}

TEST(WordCuts, ascii_only_wants_ascii_on_both_sides) {
  EXPECT_EQ(next_cut("é a b", 1, cuts_words, false), 2u);
  EXPECT_EQ(next_cut("é a b", 1, cuts_words, true), 4u);
}

}  // namespace
}  // namespace troupe
