// Bodies of Completions: every form of prompt, the shared extensions, refusals by name.
#include <gtest/gtest.h>

#include "tests/runtime/recipe/request/requests.hpp"

namespace troupe::recipe {
namespace {

constexpr auto kCompletions = Protocol::kCompletions;

ConversationRequest read(const std::string& members) {
  return test::accepted(kCompletions, "{" + members + "}", test::options());
}

RequestError refusal(const std::string& members) {
  return test::refused(kCompletions, "{" + members + "}", test::options());
}

std::vector<TokenId> ids(std::initializer_list<int> values) {
  std::vector<TokenId> tokens;
  for (const int value : values) tokens.emplace_back(value);
  return tokens;
}

TEST(Completions, PromptsOfEveryForm) {
  const auto text = read(R"("prompt":"a")");
  ASSERT_EQ(text.prompts.size(), 1u);
  EXPECT_EQ(text.prompts[0].text, "a");
  EXPECT_FALSE(text.prompts[0].ids);
  const auto texts = read(R"("prompt":["a","b"])");
  ASSERT_EQ(texts.prompts.size(), 2u);
  EXPECT_EQ(texts.prompts[1].text, "b");
  const auto tokens = read(R"("prompt":[1,2,3])");
  ASSERT_EQ(tokens.prompts.size(), 1u);
  EXPECT_EQ(tokens.prompts[0].ids, ids({1, 2, 3}));
  const auto lists = read(R"("prompt":[[1],[2,3]])");
  ASSERT_EQ(lists.prompts.size(), 2u);
  EXPECT_EQ(lists.prompts[1].ids, ids({2, 3}));
}

TEST(Completions, PromptsThatAreNoneAreNamed) {
  EXPECT_EQ(refusal(R"("model":"plain")").param, "prompt");
  EXPECT_EQ(refusal(R"("prompt":null)").param, "prompt");
  EXPECT_EQ(refusal(R"("prompt":7)").param, "prompt");
  EXPECT_EQ(refusal(R"("prompt":[])").param, "prompt");
  EXPECT_EQ(refusal(R"("prompt":[1,"a"])").param, "prompt");
  EXPECT_EQ(refusal(R"("prompt":["a",{}])").param, "prompt[1]");
  EXPECT_EQ(refusal(R"("prompt":[[1],[-2]])").param, "prompt[1]");
  EXPECT_EQ(refusal(R"("prompt":[1.5])").param, "prompt");
}

TEST(Completions, DefaultsAndWhatIsAskedFor) {
  const auto plain = read(R"("prompt":"a")");
  EXPECT_EQ(plain.sampling.tokens_max, 16u);
  EXPECT_EQ(plain.choices, 1u);
  EXPECT_FALSE(plain.sampling.logprobs);
  EXPECT_FALSE(plain.conversation.thinking);
  EXPECT_EQ(plain.parsing.initial, InitialStage::kContentContinuation);
  const auto asked =
      read(R"("prompt":"a","max_tokens":5,"n":2,"logprobs":3,"temperature":0.5,"seed":4,"top_k":9,)"
           R"("min_tokens":2,"ignore_eos":true,"logit_bias":{"7":1},"stream":true,)"
           R"("stream_options":{"include_usage":true})");
  EXPECT_EQ(asked.sampling.tokens_max, 5u);
  EXPECT_EQ(asked.choices, 2u);
  EXPECT_EQ(asked.sampling.top_logprobs, 3);
  EXPECT_EQ(asked.sampling.temperature, 0.5F);
  EXPECT_EQ(asked.sampling.tokens_min, 2u);
  EXPECT_TRUE(asked.sampling.ignore_eos);
  EXPECT_EQ(asked.sampling.logit_bias.size(), 1u);
  EXPECT_TRUE(asked.stream && asked.answer.include_usage);
}

TEST(Completions, TheNumberOfAnswersIsBounded) {
  EXPECT_EQ(refusal(R"("prompt":"a","n":0)").param, "n");
  EXPECT_EQ(refusal(R"("prompt":"a","n":129)").param, "n");
  EXPECT_EQ(refusal(R"("prompt":["a","b"],"n":65)").param, "n");
  std::string many = R"("prompt":["a")";
  for (int i = 0; i < 128; ++i) many += ",\"a\"";
  EXPECT_EQ(refusal(many + "]").param, "prompt");
}

TEST(Completions, WhatIsNotDoneIsNamedUnlessItAsksForNothing) {
  for (const char* member :
       {R"("echo":true)", R"("suffix":"x")", R"("best_of":2)", R"("use_beam_search":true)",
        R"("repetition_penalty":1.1)", R"("stop_token_ids":[1])", R"("prompt_logprobs":1)",
        R"("presence_penalty":1)", R"("response_format":{"type":"json_object"})"}) {
    const RequestError error = refusal(R"("prompt":"a",)" + std::string(member));
    const std::string name = std::string(member).substr(1, std::string(member).find('"', 1) - 1);
    EXPECT_EQ(error.param, name);
    EXPECT_EQ(error.status, 400);
  }
  read(R"("prompt":"a","echo":false,"suffix":null,"best_of":1,"presence_penalty":0,"user":"u")");
}

TEST(Completions, MinTokensKnowsItsBoundsInChatToo) {
  EXPECT_EQ(refusal(R"("prompt":"a","max_tokens":3,"min_tokens":4)").param, "min_tokens");
  EXPECT_EQ(refusal(R"("prompt":"a","min_tokens":1,"stop":"x")").param, "min_tokens");
  read(R"("prompt":"a","min_tokens":0,"stop":"x")");
  const auto chat = [](const std::string& more) {
    return test::body(test::kPlain, R"("messages":[{"role":"user","content":"a"}],)" + more);
  };
  EXPECT_EQ(test::accepted(Protocol::kChat, chat(R"("min_tokens":7)"), test::options())
                .sampling.tokens_min,
            7u);
  EXPECT_EQ(test::accepted(Protocol::kChat, chat(R"("n":128)"), test::options()).choices, 128u);
  for (const char* n : {"0", "129", "1000000", "-1", "1.5", "\"2\""}) {
    EXPECT_EQ(
        test::refused(Protocol::kChat, chat("\"n\":" + std::string(n)), test::options()).param, "n")
        << n;
  }
}

}  // namespace
}  // namespace troupe::recipe
