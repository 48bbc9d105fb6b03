#include "runtime/recipe/tokenizer/prompt_tokens.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "runtime/base/rng.hpp"
#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"
#include "runtime/recipe/tokenizer/hf_tokenizer_file.hpp"
#include "tests/runtime/recipe/deepseek_files.hpp"
#include "tests/runtime/recipe/tokenizer/nasty_text.hpp"
#include "tests/runtime/recipe/tokenizer/word_vocabulary.hpp"

namespace troupe::recipe {
namespace {

constexpr std::array kFamilies = {"gpt-2", "smollm", "llama-bpe", "qwen2", "deepseek-v3"};

/// Jobs run on this thread, last one first: an order that must not matter.
Executor backwards(unsigned threads) {
  const auto run = [](std::size_t count, const std::function<void(std::size_t)>& job) {
    while (count > 0) job(--count);
  };
  return {run, threads};
}

RenderedPrompt plain(std::string text) {
  return {.text = std::move(text), .specials = {}, .images = {}};
}

std::vector<TokenId> sequential(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<TokenId> ids;
  tokenizer.encode_plain(text, ids);
  return ids;
}

TEST(PromptTokens, any_text_gives_the_same_ids_however_it_is_cut) {
  Rng rng(2024);
  for (const auto* family : kFamilies) {
    for (const bool nfc : {false, true}) {
      const auto tokenizer = test::word_tokenizer(family, nfc);
      std::size_t most = 0;
      for (int round = 0; round < 500; ++round) {
        const std::string text = test::nasty_text(rng, 1 + rng.below(120));
        const auto ids = encode_prompt(*tokenizer, plain(text), backwards(64), 1 + rng.below(9));
        ASSERT_EQ(ids.value(), sequential(*tokenizer, text)) << family << nfc << " " << round;
        std::size_t cuts = 0;
        for (std::size_t at = 0; at < text.size(); ++cuts) {
          at = tokenizer->cut_after(text, at + 1);
        }
        most = std::max(most, cuts);
      }
      EXPECT_GT(most, 20u) << family << ": texts were cut";
    }
  }
}

TEST(PromptTokens, long_texts_of_every_kind_are_cut_somewhere) {
  const auto tokenizer = test::word_tokenizer("deepseek-v3", false);
  for (const std::string unit : {"word ", "中文，字。", "a1", "12;", "{\"k\": [1, 2]}\n", "字x"}) {
    std::string text;
    while (text.size() < 1'000) text += unit;
    EXPECT_LT(tokenizer->cut_after(text, 400), 420u) << unit;
  }
  EXPECT_EQ(tokenizer->cut_after(std::string(1'000, '='), 400), 1'000u);
}

TEST(PromptTokens, a_model_that_wants_bos_gets_it_once) {
  const auto tokenizer = test::word_tokenizer("gpt-2", false, true);
  const TokenId bos = *tokenizer->bos();
  const std::vector<TokenId> expected{bos, TokenId('h')};
  EXPECT_EQ(encode_prompt(*tokenizer, plain("h")).value(), expected);
  RenderedPrompt prompt = plain("<s>h");
  EXPECT_EQ(encode_prompt(*tokenizer, prompt).value().front(), bos) << "typed: text behind bos";
  EXPECT_GT(encode_prompt(*tokenizer, prompt).value().size(), 2u);
  prompt.specials = {{0, 3}};
  EXPECT_EQ(encode_prompt(*tokenizer, prompt).value(), expected);
}

TEST(PromptTokens, ranges_become_ids_and_gaps_do_not) {
  const auto tokenizer = ByteTokenizer::build();
  RenderedPrompt prompt = plain("a<|im_end|><|im_end|>b<|im_start|>");
  prompt.specials = {{1, 11}, {22, 34}};
  const auto ids = encode_prompt(*tokenizer, prompt).value();
  EXPECT_EQ(ids.size(), 1 + 1 + 11 + 1u);
  EXPECT_EQ(ids[1], TokenId(258));
  EXPECT_EQ(ids[2], TokenId('<'));
  EXPECT_EQ(ids.back(), TokenId(257));
  for (const unsigned threads : {2u, 3u, 7u}) {
    EXPECT_EQ(encode_prompt(*tokenizer, prompt, backwards(threads), 2).value(), ids);
  }
  EXPECT_TRUE(encode_prompt(*tokenizer, plain("")).value().empty());
}

TEST(PromptTokens, what_is_wrong_with_a_range_is_said) {
  const auto tokenizer = ByteTokenizer::build();
  RenderedPrompt prompt = plain("a<|none|>");
  prompt.specials = {{1, 9}};
  EXPECT_EQ(encode_prompt(*tokenizer, prompt).error().message,
            "failed to encode conversation: special token \"<|none|>\" is not in the added "
            "vocabulary");
  for (const ByteRange wrong : {ByteRange{1, 1}, ByteRange{3, 2}, ByteRange{1, 10}}) {
    prompt.specials = {wrong};
    EXPECT_EQ(encode_prompt(*tokenizer, prompt).error().code, Code::kInvalid);
  }
  prompt = plain("<|im_end|><|im_end|>");
  prompt.specials = {{10, 20}, {0, 10}};
  EXPECT_EQ(encode_prompt(*tokenizer, prompt).error().code, Code::kInvalid);
}

TEST(PromptTokens, threads_of_its_own_give_the_ids_of_one) {
  TROUPE_NEEDS_FILE(test::deepseek_tokenizer_path("deepseek-v4"));
  const auto tokenizer = load_tokenizer_file(test::deepseek_tokenizer_path("deepseek-v4")).value();
  Rng rng(3);
  for (int round = 0; round < 6; ++round) {
    const RenderedPrompt prompt = plain(test::nasty_text(rng, 40'000));
    const auto ids = encode_prompt(*tokenizer, prompt, 1).value();
    EXPECT_EQ(ids, sequential(*tokenizer, prompt.text));
    for (const unsigned threads : {2u, 5u}) {
      EXPECT_EQ(encode_prompt(*tokenizer, prompt, threads).value(), ids);
    }
  }
}

}  // namespace
}  // namespace troupe::recipe
