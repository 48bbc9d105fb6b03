#include "runtime/recipe/tokenizer/tokenizer.hpp"

#include <gtest/gtest.h>

#include <ctime>

#include "runtime/base/rng.hpp"
#include "runtime/recipe/tokenizer/bpe_merges.hpp"
#include "runtime/recipe/tokenizer/bpe_tokenizer.hpp"
#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"

namespace troupe {
namespace {

/// All 256 bytes in GPT-2's alphabet, then a few merges, then control tokens.
Vocabulary small_vocabulary(std::string pre = "gpt-2") {
  Vocabulary vocabulary;
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool same = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    const char32_t letter = same ? byte : next++;
    std::string spelling;
    if (letter >= 0x80) {
      spelling += static_cast<char>(0xC0 | (letter >> 6));
      spelling += static_cast<char>(0x80 | (letter & 0x3F));
    } else {
      spelling += static_cast<char>(letter);
    }
    vocabulary.tokens.push_back(spelling);
  }
  vocabulary.merges = {"a a", "aa aa", "a b", "Ġ a", "aa b", "aaaa aaaa"};
  for (const auto* merged : {"aa", "aaaa", "ab", "Ġa", "aab", "aaaaaaaa"}) {
    vocabulary.tokens.emplace_back(merged);
  }
  vocabulary.kinds.assign(vocabulary.tokens.size(), TokenKind::kNormal);
  vocabulary.tokens.insert(vocabulary.tokens.end(), {"<s>", "<s>x", "<think>"});
  vocabulary.kinds.insert(vocabulary.kinds.end(),
                          {TokenKind::kControl, TokenKind::kControl, TokenKind::kUserDefined});
  vocabulary.pre_tokenizer = std::move(pre);
  vocabulary.eos = TokenId(262);
  vocabulary.ends = {TokenId(262)};
  return vocabulary;
}

std::shared_ptr<const Tokenizer> small() {
  return BpeTokenizer::build(small_vocabulary()).value();
}

std::vector<int> numbers(const std::vector<TokenId>& ids) {
  std::vector<int> out;
  for (const TokenId id : ids) out.push_back(id.value);
  return out;
}

TEST(Tokenizer, merges_by_rank_then_from_the_left) {
  EXPECT_EQ(numbers(small()->encode("aaab")), (std::vector<int>{256, 258}));
  EXPECT_EQ(numbers(small()->encode("aab aa")), (std::vector<int>{260, 32, 256}));
  EXPECT_EQ(numbers(small()->encode("b a")), (std::vector<int>{'b', 259}));
}

TEST(Tokenizer, control_tokens_come_only_when_asked_for) {
  EXPECT_EQ(numbers(small()->encode("<s>")), (std::vector<int>{'<', 's', '>'}));
  EXPECT_EQ(numbers(small()->encode("b<s>b", true)), (std::vector<int>{'b', 262, 'b'}));
  EXPECT_EQ(numbers(small()->encode("<s>x<s", true)), (std::vector<int>{263, '<', 's'}));
  EXPECT_EQ(numbers(small()->encode("<think>")), (std::vector<int>{264}));
  // User-defined tokens are text for llama.cpp; prompts are encoded without them all the same.
  std::vector<TokenId> plain;
  small()->encode_plain("<think>", plain);
  EXPECT_EQ(numbers(plain), (std::vector<int>{'<', 't', 'h', 'i', 'n', 'k', '>'}));
  EXPECT_TRUE(small()->is_added(TokenId(264)));
  EXPECT_FALSE(small()->is_added(TokenId(261)));
  EXPECT_FALSE(small()->is_added(TokenId(-1)));
}

TEST(Tokenizer, segments_join_text_and_never_parse_it) {
  const auto tokenizer = small();
  const std::vector<PromptSegment> segments = {
      {"<s>", true}, {"a", false}, {"ab<s>", false}, {"<s>x", true}};
  EXPECT_EQ(numbers(tokenizer->encode(segments).value()),
            (std::vector<int>{262, 260, '<', 's', '>', 263}));
  const std::vector<PromptSegment> wrong = {{"<none>", true}};
  EXPECT_EQ(tokenizer->encode(wrong).error().code, Code::kInvalid);
}

TEST(Tokenizer, any_bytes_round_trip) {
  Rng rng(11);
  for (const auto* pre : {"gpt-2", "smollm", "llama-bpe", "qwen2", "deepseek-v3"}) {
    const auto tokenizer = BpeTokenizer::build(small_vocabulary(pre)).value();
    for (int round = 0; round < 500; ++round) {
      std::string text(rng.below(100), '\0');
      for (char& c : text)
        c = rng.chance(0.6) ? "ab a"[rng.below(4)] : static_cast<char>(rng.next());
      EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
    }
  }
}

/// The rule, as written: the lowest rank first, of equals the leftmost.
std::vector<TokenId> merge_naively(std::vector<TokenId> symbols,
                                   const std::vector<BpeMerges::Merge>& merges) {
  while (true) {
    std::size_t best_rank = merges.size();
    std::size_t best_at = 0;
    for (std::size_t at = 0; at + 1 < symbols.size(); ++at) {
      for (std::size_t rank = 0; rank < best_rank; ++rank) {
        if (merges[rank].left == symbols[at] && merges[rank].right == symbols[at + 1]) {
          best_rank = rank;
          best_at = at;
        }
      }
    }
    if (best_rank == merges.size()) return symbols;
    symbols[best_at] = merges[best_rank].joined;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
  }
}

TEST(BpeMerges, long_and_short_words_follow_the_same_rule) {
  Rng rng(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<BpeMerges::Merge> merges;
    std::int32_t known = 3;
    for (int i = 0; i < 12; ++i) {
      const TokenId left(static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(known))));
      const TokenId right(static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(known))));
      merges.push_back({left, right, TokenId(known++)});
    }
    std::vector<TokenId> symbols(rng.below(120));
    for (TokenId& id : symbols) id = TokenId(static_cast<std::int32_t>(rng.below(3)));
    const auto expected = merge_naively(symbols, merges);
    BpeMerges(merges).apply(symbols);
    ASSERT_EQ(symbols, expected) << "round " << round;
  }
}

TEST(Tokenizer, a_very_long_word_is_not_quadratic) {
  const auto tokenizer = small();
  const std::clock_t start = std::clock();
  const auto ids = tokenizer->encode(std::string(400'000, 'a'));
  const auto spaces = tokenizer->encode(std::string(400'000, ' ') + "1");
  const double cpu_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(ids.size(), 50'000u);
  EXPECT_EQ(spaces.size(), 400'001u);
  EXPECT_LT(cpu_seconds, 30.0);  // 0.3 in a release build, quadratic is minutes also there
}

TEST(Tokenizer, a_vocabulary_that_contradicts_itself_is_refused) {
  auto vocabulary = small_vocabulary();
  vocabulary.merges.push_back("a zz");
  EXPECT_EQ(BpeTokenizer::build(vocabulary).error().message,
            "merge 6 (\"a zz\") names tokens that the vocabulary does not have");
  vocabulary = small_vocabulary();
  vocabulary.kinds.pop_back();
  EXPECT_EQ(BpeTokenizer::build(vocabulary).error().code, Code::kCorrupt);
  vocabulary = small_vocabulary();
  vocabulary.eos = TokenId(100'000);
  EXPECT_EQ(BpeTokenizer::build(vocabulary).error().code, Code::kCorrupt);
  EXPECT_EQ(BpeTokenizer::build(small_vocabulary("mystery")).error().code, Code::kUnsupported);
}

TEST(ByteTokenizer, ids_are_bytes_and_control_tokens_follow) {
  const std::vector<std::string> more = {"<tool>"};
  const auto tokenizer = ByteTokenizer::build(more);
  EXPECT_EQ(numbers(tokenizer->encode("a\xFF")), (std::vector<int>{'a', 0xFF}));
  EXPECT_EQ(numbers(tokenizer->encode("<|im_end|><tool>", true)), (std::vector<int>{258, 259}));
  EXPECT_EQ(tokenizer->decode(std::vector{TokenId('x'), TokenId(258)}), "x");
  EXPECT_EQ(tokenizer->decode(std::vector{TokenId('x'), TokenId(258)}, true), "x<|im_end|>");
  EXPECT_TRUE(tokenizer->is_control(TokenId(-1)));
  EXPECT_EQ(tokenizer->bytes_of(TokenId(1000)), "");
  EXPECT_EQ(tokenizer->added_token("<tool>"), TokenId(259));
}

}  // namespace
}  // namespace troupe
