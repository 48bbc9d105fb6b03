// Tokens as a client sees them: events of a stream, or one body.
#include "actors/recipe/recipe_answer.hpp"

#include <gtest/gtest.h>

#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"

namespace troupe {
namespace {

RecipeAnswerOptions options(bool stream) {
  RecipeAnswerOptions options;
  options.parsing.initial = recipe::InitialStage::kContent;
  options.answer.thinking = false;
  options.identity.id = "chatcmpl-1";
  options.identity.model = "bytes";
  options.identity.created = 5;
  options.tokenizer = ByteTokenizer::build();
  options.stream = stream;
  options.prompt_tokens = 11;
  return options;
}

RowTokens tokens(std::string_view text) {
  RowTokens row;
  for (const char c : text) row.tokens.emplace_back(static_cast<unsigned char>(c));
  return row;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

int count(const std::string& text, std::string_view part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// What the chunks' contents add up to. Requires: nothing in them is escaped.
std::string contents(const std::string& stream) {
  constexpr std::string_view key = R"("delta":{"content":")";
  std::string all;
  for (auto at = stream.find(key); at != std::string::npos; at = stream.find(key, at + 1)) {
    const auto from = at + key.size();
    all += stream.substr(from, stream.find('"', from) - from);
  }
  return all;
}

TEST(AnswerStream, RoleContentFinishDoneInOrder) {
  const auto writer = RecipeAnswer(options(true)).open();
  std::string first, second, end;
  EXPECT_FALSE(writer->feed(tokens("he"), first));
  EXPECT_FALSE(writer->feed(tokens("llo"), second));
  writer->finish(Finish::kStop, 5, end);
  EXPECT_EQ(count(first, R"("role":"assistant")"), 1);
  EXPECT_FALSE(has(second, R"("role")"));
  EXPECT_EQ(contents(first + second + end), "hello");
  EXPECT_TRUE(has(end, R"("finish_reason":"stop")"));
  EXPECT_TRUE(end.ends_with("data: [DONE]\n\n"));
  EXPECT_FALSE(has(first + second + end, R"("usage")"));
}

TEST(AnswerStream, UsageOnlyIfAskedForBetweenFinishAndDone) {
  RecipeAnswerOptions with_usage = options(true);
  with_usage.answer.include_usage = true;
  const auto writer = RecipeAnswer(with_usage).open();
  std::string out;
  writer->feed(tokens("a"), out);
  writer->finish(Finish::kLength, 1, out);
  EXPECT_TRUE(has(out, R"("prompt_tokens":11,"completion_tokens":1,"total_tokens":12)"));
  EXPECT_LT(out.find(R"("finish_reason":"length")"), out.find(R"("usage")"));
  EXPECT_LT(out.find(R"("usage")"), out.find("[DONE]"));
}

TEST(AnswerStream, AnEmptyAnswerStillHasItsRole) {
  const auto writer = RecipeAnswer(options(true)).open();
  std::string out;
  writer->finish(Finish::kStop, 0, out);
  EXPECT_TRUE(has(out, R"("role":"assistant")"));
  EXPECT_EQ(contents(out), "");
}

TEST(AnswerStream, AFailureIsAnErrorEventAndNeverDone) {
  const auto writer = RecipeAnswer(options(true)).open();
  std::string out;
  writer->feed(tokens("a"), out);
  out.clear();
  writer->fail(Code::kLost, "the rank is gone", out);
  EXPECT_TRUE(out.starts_with(R"(data: {"error":{)")) << out;
  EXPECT_TRUE(has(out, "the rank is gone"));
  EXPECT_FALSE(has(out, "[DONE]"));
}

TEST(AnswerStream, ACharacterOfSeveralTokensIsSentWhole) {
  const auto writer = RecipeAnswer(options(true)).open();
  std::string half, whole;
  writer->feed(tokens("\xC3"), half);
  EXPECT_EQ(contents(half), "");
  writer->feed(tokens("\xA9"), whole);
  EXPECT_EQ(contents(whole), "\xC3\xA9");
}

TEST(AnswerStop, AStopStringAcrossStepsEndsTheAnswerBeforeIt) {
  RecipeAnswerOptions stopping = options(true);
  stopping.parsing.stops = {"END"};
  const auto writer = RecipeAnswer(stopping).open();
  std::string out;
  EXPECT_FALSE(writer->feed(tokens("abE"), out));
  EXPECT_FALSE(writer->feed(tokens("N"), out));
  EXPECT_TRUE(writer->feed(tokens("Dxyz"), out));
  writer->finish(Finish::kStop, 8, out);
  EXPECT_EQ(contents(out), "ab");
}

TEST(AnswerStop, WhatOnlyBeganLikeAStopStringIsSentInTheEnd) {
  RecipeAnswerOptions stopping = options(true);
  stopping.parsing.stops = {"END"};
  const auto writer = RecipeAnswer(stopping).open();
  std::string out;
  EXPECT_FALSE(writer->feed(tokens("aEN"), out));
  EXPECT_EQ(contents(out), "a");
  writer->finish(Finish::kLength, 3, out);
  EXPECT_EQ(contents(out), "aEN");
}

TEST(AnswerStop, AnEndTokenIsNoText) {
  const auto writer = RecipeAnswer(options(true)).open();
  RowTokens row = tokens("a");
  row.tokens.emplace_back(258);  // <|im_end|>
  std::string out;
  EXPECT_FALSE(writer->feed(row, out));
  writer->finish(Finish::kStop, 2, out);
  EXPECT_EQ(contents(out), "a");
}

TEST(AnswerBody, OneBodyHasItAllAndNothingComesBefore) {
  const auto writer = RecipeAnswer(options(false)).open();
  std::string early, body;
  writer->feed(tokens("hel"), early);
  writer->feed(tokens("lo"), early);
  EXPECT_EQ(early, "");
  writer->finish(Finish::kLength, 5, body);
  EXPECT_TRUE(has(body, R"("message":{"role":"assistant","content":"hello"})")) << body;
  EXPECT_TRUE(has(body, R"("finish_reason":"length")"));
  EXPECT_TRUE(has(body, R"("prompt_tokens":11,"completion_tokens":5,"total_tokens":16)"));
  EXPECT_FALSE(has(body, "data:"));
}

RowTokens with_logprobs() {
  RowTokens row = tokens("ab");
  row.logprobs = {{TokenId('a'), -0.5F, {{TokenId('a'), -0.5F}, {TokenId('z'), -2.0F}}},
                  {TokenId('b'), -0.25F, {}}};
  return row;
}

TEST(AnswerLogprobs, TheyComeWithTheirTextAndOnlyIfAskedFor) {
  for (const bool stream : {true, false}) {
    for (const bool asked : {true, false}) {
      RecipeAnswerOptions chosen = options(stream);
      chosen.logprobs = asked;
      const auto writer = RecipeAnswer(chosen).open();
      std::string out;
      writer->feed(with_logprobs(), out);
      writer->finish(Finish::kStop, 2, out);
      const int places = stream ? 2 : 1;  // each token's with its text
      EXPECT_EQ(count(out, R"("logprobs":{)"), asked ? places : 0) << out;
      EXPECT_EQ(count(out, R"("top_logprobs":[)"), asked ? 2 : 0);
      EXPECT_EQ(has(out, R"("token":"z","logprob":-2.0)"), asked);
    }
  }
}

TEST(AnswerFormat, ContentTypes) {
  EXPECT_STREQ(RecipeAnswer(options(true)).content_type(), "text/event-stream; charset=utf-8");
  EXPECT_STREQ(RecipeAnswer(options(false)).content_type(), "application/json");
}

}  // namespace
}  // namespace troupe
