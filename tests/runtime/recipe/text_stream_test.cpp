#include "runtime/recipe/text_stream.hpp"

#include <gtest/gtest.h>

#include "runtime/base/rng.hpp"
#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

constexpr TokenId kImEnd(258);

class Pieces {
 public:
  explicit Pieces(std::vector<std::string> stops = {})
      : stream(ByteTokenizer::build(), std::move(stops)) {}

  /// Each byte is one token; returns what came out of all of them.
  std::string feed(std::string_view bytes) {
    std::string out;
    for (const char c : bytes) {
      const std::string piece = stream.push(TokenId(static_cast<unsigned char>(c)));
      EXPECT_TRUE(is_valid_utf8(piece));
      out += piece;
    }
    return out;
  }

  TextStream stream;
};

TEST(TextStream, characters_come_whole) {
  Pieces pieces;
  EXPECT_EQ(pieces.feed("a\xF0\x9F\x98"), "a");
  EXPECT_EQ(pieces.feed("\x80 ok"), "😀 ok");
  EXPECT_EQ(pieces.stream.finish(), "");
  EXPECT_EQ(pieces.stream.replaced(), 0u);
}

TEST(TextStream, wrong_bytes_become_one_sign_for_each_maximal_subpart) {
  // The example of Unicode 15, table 3-11.
  Pieces pieces;
  std::string text = pieces.feed(
      "a\xF1\x80\x80\xE1\x80\xC2"
      "b\x80"
      "c\x80\xBF"
      "d");
  EXPECT_EQ(text, "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(pieces.stream.replaced(), 6u);
  EXPECT_EQ(pieces.feed("\xE4\xBD"), "");
  EXPECT_EQ(pieces.stream.finish(), "\uFFFD");
  EXPECT_EQ(pieces.stream.replaced(), 7u);
}

TEST(TextStream, a_stop_string_over_many_tokens_is_never_sent) {
  Pieces pieces({"two-three-four", "ree Q"});
  EXPECT_EQ(pieces.feed("one two-three-fo"), "one ");
  EXPECT_FALSE(pieces.stream.stopped());
  EXPECT_EQ(pieces.feed("ur!"), "");
  EXPECT_TRUE(pieces.stream.stopped());
  EXPECT_EQ(pieces.stream.stop_string(), "two-three-four");
  EXPECT_EQ(pieces.stream.finish(), "");
}

TEST(TextStream, text_that_only_looked_like_a_stop_is_released) {
  Pieces pieces({"two-three-four"});
  EXPECT_EQ(pieces.feed("one two-three-fiv"), "one two-three-fiv");
  EXPECT_EQ(pieces.feed(" tw"), " ");
  EXPECT_EQ(pieces.stream.finish(), "tw");
}

TEST(TextStream, the_earliest_end_wins_then_the_longest) {
  Pieces first({"bcd", "abcde", "cd"});
  EXPECT_EQ(first.feed("xabcdef"), "xa");
  EXPECT_EQ(first.stream.stop_string(), "bcd");
  Pieces dots({".."});
  EXPECT_EQ(dots.feed("a...b"), "a");
}

TEST(TextStream, nothing_follows_a_stop) {
  TextStream stream(ByteTokenizer::build(), {"\n"});
  EXPECT_EQ(stream.push(TokenId('a')), "a");
  EXPECT_EQ(stream.push(TokenId('\n')), "");
  EXPECT_EQ(stream.push(TokenId('b')), "");
  EXPECT_EQ(stream.bytes_sent(), 1u);
}

TEST(TextStream, control_tokens_are_no_text) {
  Pieces pieces;
  EXPECT_EQ(pieces.stream.push(kImEnd), "");
  EXPECT_EQ(pieces.stream.push(TokenId(999)), "");
  EXPECT_EQ(pieces.feed("x"), "x");
}

/// What the stream must give, found by looking at the whole text.
std::string expected_text(const std::string& text, const std::vector<std::string>& stops) {
  std::size_t best_end = std::string::npos;
  std::size_t best_length = 0;
  for (const auto& stop : stops) {
    const std::size_t at = text.find(stop);
    if (at == std::string::npos) continue;
    const std::size_t end = at + stop.size();
    if (end < best_end || (end == best_end && stop.size() > best_length)) {
      best_end = end;
      best_length = stop.size();
    }
  }
  return best_end == std::string::npos ? text : text.substr(0, best_end - best_length);
}

TEST(TextStream, agrees_with_a_search_in_the_whole_text) {
  Rng rng(23);
  const auto word = [&](std::size_t length_max) {
    std::string out;
    for (auto n = 1 + rng.below(length_max); n > 0; --n) out += "aab"[rng.below(3)];
    return out;
  };
  for (int round = 0; round < 3'000; ++round) {
    std::vector<std::string> stops;
    for (auto n = rng.below(4); n > 0; --n) stops.push_back(word(5));
    const std::string text = word(30);
    Pieces pieces(stops);
    std::string got = pieces.feed(text);
    got += pieces.stream.finish();
    ASSERT_EQ(got, expected_text(text, stops)) << text;
    ASSERT_EQ(pieces.stream.bytes_sent(), got.size());
  }
}

}  // namespace
}  // namespace troupe
