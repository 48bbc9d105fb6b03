// Several choices in one answer, and the answers of Completions.
#include "runtime/recipe/stream/choices.hpp"

#include <gtest/gtest.h>

#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"

namespace troupe::recipe {
namespace {

struct Events final : EventSink {
  void event(std::string_view, std::string_view json) override { all.emplace_back(json); }
  std::vector<std::string> all;
};

TokensChunk tokens(std::string_view text, bool logprobs = false) {
  TokensChunk chunk;
  for (const char c : text) {
    chunk.ids.emplace_back(static_cast<unsigned char>(c));
    if (logprobs)
      chunk.logprobs.push_back({-0.5, {{chunk.ids.back(), -0.5}, {TokenId('z'), -2.0}}});
  }
  return chunk;
}

class ChoicesTest : public testing::TestWithParam<Protocol> {
 protected:
  Choices make(Delivery delivery, std::uint32_t count = 2, bool usage = true) {
    ParsingOptions parsing;
    parsing.initial = InitialStage::kContentContinuation;
    parsing.stops = {"END"};
    AnswerOptions answer;
    answer.protocol = GetParam();
    answer.thinking = false;
    answer.include_usage = usage;
    return Choices(parsing, answer, {"id-1", "m", 7, 1, ""}, ByteTokenizer::build(), delivery,
                   count);
  }
  Events events;
};

TEST_P(ChoicesTest, EachHasItsIndexAndItsEndAndTheUsageComesLast) {
  Choices choices = make(Delivery::kEvents);
  choices.start({11, 0, "fp"}, events);
  ASSERT_TRUE(choices.push(1, tokens("b"), events).ok());
  ASSERT_TRUE(choices.push(0, tokens("aEND"), events).ok());
  EXPECT_TRUE(choices.finished(0));
  EXPECT_FALSE(choices.finished());
  ASSERT_TRUE(choices.push(1, FinishChunk{EngineFinish::kLength}, events).ok());
  EXPECT_TRUE(choices.finished());
  int ends[2] = {0, 0};
  for (std::size_t i = 0; i + 1 < events.all.size(); ++i) {
    const std::string& event = events.all[i];
    EXPECT_EQ(event.find(R"("usage")"), std::string::npos) << event;
    const bool second = event.find(R"("index":1)") != std::string::npos;
    EXPECT_NE(event.find(second ? R"("index":1)" : R"("index":0)"), std::string::npos) << event;
    if (event.find(R"("finish_reason":null)") == std::string::npos) {
      ++ends[second];
      EXPECT_NE(event.find(second ? R"("length")" : R"("stop")"), std::string::npos) << event;
    }
  }
  EXPECT_EQ(ends[0], 1);
  EXPECT_EQ(ends[1], 1);
  const std::string& last = events.all.back();
  EXPECT_NE(last.find(R"("choices":[],"usage":{"prompt_tokens":11,"completion_tokens":5,)"),
            std::string::npos)
      << last;
}

TEST_P(ChoicesTest, NoUsageUnlessAskedFor) {
  Choices choices = make(Delivery::kEvents, 1, false);
  choices.start({11, 0, ""}, events);
  ASSERT_TRUE(choices.push(0, FinishChunk{}, events).ok());
  for (const auto& event : events.all) EXPECT_EQ(event.find("usage"), std::string::npos) << event;
}

TEST_P(ChoicesTest, ABodyHoldsAllInOrder) {
  Choices choices = make(Delivery::kBody);
  choices.start({11, 0, "fp"}, events);
  ASSERT_TRUE(choices.push(1, tokens("bb"), events).ok());
  ASSERT_TRUE(choices.push(1, FinishChunk{}, events).ok());
  ASSERT_TRUE(choices.push(0, tokens("a"), events).ok());
  ASSERT_TRUE(choices.push(0, FinishChunk{EngineFinish::kLength}, events).ok());
  EXPECT_TRUE(events.all.empty());
  const std::string body = choices.body();
  const bool chat = GetParam() == Protocol::kChat;
  EXPECT_EQ(
      body,
      chat ? R"({"id":"id-1","object":"chat.completion","created":7,"model":"m",)"
             R"("system_fingerprint":"fp","choices":[)"
             R"({"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"length"},)"
             R"({"index":1,"message":{"role":"assistant","content":"bb"},"finish_reason":"stop"}],)"
             R"("usage":{"prompt_tokens":11,"completion_tokens":3,"total_tokens":14,)"
             R"("prompt_tokens_details":{"cached_tokens":0}}})"
           : R"({"id":"id-1","object":"text_completion","created":7,"model":"m",)"
             R"("system_fingerprint":"fp","choices":[)"
             R"({"index":0,"text":"a","logprobs":null,"finish_reason":"length"},)"
             R"({"index":1,"text":"bb","logprobs":null,"finish_reason":"stop"}],)"
             R"("usage":{"prompt_tokens":11,"completion_tokens":3,"total_tokens":14,)"
             R"("prompt_tokens_details":{"cached_tokens":0}}})");
}

TEST_P(ChoicesTest, AFailureIsOneErrorForAll) {
  Choices choices = make(Delivery::kEvents);
  choices.start({11, 0, ""}, events);
  events.all.clear();
  choices.fail({503, "server_error", "", "worker_lost", "gone"}, events);
  ASSERT_EQ(events.all.size(), 1u);
  EXPECT_EQ(events.all[0].rfind(R"({"error":{"message":"gone")", 0), 0u);
}

INSTANTIATE_TEST_SUITE_P(Protocols, ChoicesTest,
                         testing::Values(Protocol::kChat, Protocol::kCompletions));

/// One answer of Completions: its events, or its body as the only one.
std::vector<std::string> completion(Delivery delivery, const std::vector<TokensChunk>& chunks,
                                    std::vector<std::string> stops = {}) {
  ParsingOptions parsing;
  parsing.stops = std::move(stops);
  parsing.initial = InitialStage::kContentContinuation;
  AnswerOptions answer;
  answer.protocol = Protocol::kCompletions;
  answer.thinking = false;
  StreamProcessor processor(parsing, answer, {"c", "m", 7, 1, ""}, ByteTokenizer::build(),
                            delivery);
  Events events;
  EXPECT_TRUE(processor.push(ReadyChunk{3, 0, ""}, events).ok());
  for (const auto& chunk : chunks) EXPECT_TRUE(processor.push(chunk, events).ok());
  EXPECT_TRUE(processor.push(FinishChunk{}, events).ok());
  if (delivery == Delivery::kBody) events.all.push_back(processor.body());
  return events.all;
}

constexpr const char* kHead =
    R"({"id":"c","object":"text_completion","created":7,"model":"m","choices":[)";

TEST(Completion, AStreamBeginsWithItsText) {
  EXPECT_EQ(completion(Delivery::kEvents, {tokens("\n a")}),
            (std::vector<std::string>{
                std::string(kHead) +
                    R"({"index":0,"text":"\n a","logprobs":null,"finish_reason":null}]})",
                std::string(kHead) +
                    R"({"index":0,"text":"","logprobs":null,"finish_reason":"stop"}]})"}));
}

TEST(Completion, EachTokenHasItsOwnPlaceInTheText) {
  // A stop string may hold tokens back: what is let go together is still several tokens.
  const auto body = completion(Delivery::kBody,
                               {tokens("x\xE2\x82\xAC"
                                       "EyEN!",
                                       true)},
                               {"END"});
  EXPECT_NE(body[0].find(R"("text_offset":[0,1,1,1,2,3,4,5,6])"), std::string::npos) << body[0];
}

TEST(Completion, LogprobsHaveTheOldShapeAndCountCharacters) {
  const auto body = completion(Delivery::kBody, {tokens("\xC3\xA9", true), tokens("b", true)});
  ASSERT_EQ(body.size(), 1u);
  EXPECT_NE(body[0].find(R"("token_logprobs":[-0.5,-0.5,-0.5])"), std::string::npos) << body[0];
  EXPECT_NE(body[0].find(R"("text_offset":[0,0,1])"), std::string::npos) << body[0];
  EXPECT_NE(body[0].find(R"({"b":-0.5,"z":-2}]})"), std::string::npos) << body[0];
  const auto plain = completion(Delivery::kEvents, {tokens("ab", true)});
  ASSERT_EQ(plain.size(), 3u);
  EXPECT_NE(plain[0].find(R"("logprobs":{"text_offset":[0],"token_logprobs":[-0.5],)"
                          R"("tokens":["a"],"top_logprobs":[{"a":-0.5,"z":-2}]})"),
            std::string::npos)
      << plain[0];
  EXPECT_NE(plain[1].find(R"("text_offset":[1])"), std::string::npos) << plain[1];
}

}  // namespace
}  // namespace troupe::recipe
