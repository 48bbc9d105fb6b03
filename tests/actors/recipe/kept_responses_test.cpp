// Responses that are kept and gone on with, and requests of raw prompts.
#include <gtest/gtest.h>

#include "actors/recipe/recipe_preparer.hpp"
#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"

namespace troupe {
namespace {

RecipePreparer with_secret(const std::string& secret) {
  const auto chatml = recipe::make_encoding("chatml", nullptr).value();
  return RecipePreparer(
      {{"bytes", ByteTokenizer::build(), chatml, recipe::ModelVersion::kChatml, 400}}, "fp_test", 1,
      secret);
}

Prepared ask_for(const std::string& path, const std::string& body, const std::string& secret = "s",
                 const ResponseChain* earlier = nullptr) {
  HttpArrived arrived;
  arrived.path = path;
  arrived.body = body;
  arrived.unix_seconds = 1'700'000'000;
  auto prepared = with_secret(secret).prepare(arrived, RequestId(7), earlier);
  EXPECT_TRUE(prepared.ok());
  return prepared.ok() ? std::move(prepared).value() : Prepared{};
}

/// What a finished answer "ok" leaves behind.
SharedResponse kept_of(const Prepared& prepared) {
  EXPECT_EQ(prepared.reply_status, 0) << prepared.reply_body;
  if (prepared.reply_status != 0) return nullptr;
  const auto writer = prepared.answer.format->open();
  std::string out;
  RowTokens tokens;
  for (const char c : std::string("ok")) tokens.tokens.emplace_back(c);
  writer->feed(tokens, out);
  EXPECT_EQ(writer->kept(), nullptr) << "not before its end";
  writer->finish(Finish::kStop, 2, out);
  return writer->kept();
}

constexpr const char* kResponses = "/v1/responses";

TEST(KeptResponses, TheSameWhetherStreamedOrNot) {
  const SharedResponse whole = kept_of(ask_for(kResponses, R"({"input":"hi"})"));
  const SharedResponse streamed = kept_of(ask_for(kResponses, R"({"input":"hi","stream":true})"));
  ASSERT_TRUE(whole && streamed);
  EXPECT_EQ(whole->body, streamed->body);
  EXPECT_EQ(whole->created, 1'700'000'000);
  EXPECT_EQ(whole->input,
            R"({"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]})");
  EXPECT_NE(whole->body.find("\"id\":\"" + whole->id + "\""), std::string::npos) << whole->body;
  EXPECT_NE(whole->body.find(R"("store":true)"), std::string::npos);
  EXPECT_NE(whole->body.find(R"("text":"ok")"), std::string::npos);
}

TEST(KeptResponses, IdsHaveATailThatTheSecretGives) {
  const std::string body = R"({"input":"hi"})";
  const std::string id = kept_of(ask_for(kResponses, body, "one"))->id;
  EXPECT_EQ(id.rfind("resp_0000000000000007", 0), 0u) << id;
  EXPECT_EQ(id.size(), std::string("resp_").size() + 16 + 32);
  EXPECT_EQ(kept_of(ask_for(kResponses, body, "one"))->id, id);
  EXPECT_NE(kept_of(ask_for(kResponses, body, "two"))->id, id);
}

TEST(KeptResponses, NothingIsKeptThatShouldNotBe) {
  EXPECT_EQ(kept_of(ask_for(kResponses, R"({"input":"hi","store":false})")), nullptr);
  EXPECT_EQ(kept_of(ask_for(kResponses, R"({"input":"hi"})", "")), nullptr);
  EXPECT_EQ(
      kept_of(ask_for("/v1/chat/completions", R"({"messages":[{"role":"user","content":"hi"}]})")),
      nullptr);
  const Prepared refused = ask_for(kResponses, R"({"input":"hi","store":true})", "");
  EXPECT_EQ(refused.reply_status, 400);
  EXPECT_NE(refused.reply_body.find(R"("param":"store")"), std::string::npos);
  const auto writer = ask_for(kResponses, R"({"input":"hi","stream":true})").answer.format->open();
  std::string out;
  writer->feed(RowTokens{}, out);
  writer->fail(Code::kLost, "gone", out);
  EXPECT_EQ(writer->kept(), nullptr) << "failed";
}

TEST(KeptResponses, GoingOnPutsTheEarlierTurnsFirst) {
  const Prepared first = ask_for(kResponses, R"({"input":"a","previous_response_id":"resp_x"})");
  EXPECT_EQ(first.previous, "resp_x");
  EXPECT_TRUE(first.prompt.empty());
  const ResponseChain chain{{kept_of(ask_for(kResponses, R"({"input":"hi"})"))}};
  const Prepared second = ask_for(
      kResponses, R"({"input":"a","previous_response_id":"resp_x","instructions":"Be brief."})",
      "s", &chain);
  EXPECT_EQ(ByteTokenizer::build()->decode(second.prompt, true),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n"
            "<|im_start|>assistant\nok<|im_end|>\n<|im_start|>user\na<|im_end|>\n"
            "<|im_start|>assistant\n");
  const SharedResponse kept = kept_of(second);
  EXPECT_EQ(kept->previous, chain.responses[0]->id);
  EXPECT_NE(kept->input.find(R"("text":"a")"), std::string::npos);
  EXPECT_EQ(kept->input.find(R"("text":"hi")"), std::string::npos) << "its own items only";
}

TEST(KeptResponses, AConversationIsNoLongerThanABodyMayBe) {
  const ResponseChain chain{
      {kept_of(ask_for(kResponses, R"({"input":")" + std::string(60, 'x') + R"("})"))}};
  const std::string body = R"({"input":"a","previous_response_id":"resp_x"})";
  const auto chatml = recipe::make_encoding("chatml", nullptr).value();
  const auto go_on = [&](std::size_t bytes_max) {
    const RecipePreparer preparer(
        {{"m", ByteTokenizer::build(), chatml, recipe::ModelVersion::kChatml, 4096}}, "", 1, "s",
        {}, bytes_max);
    HttpArrived arrived;
    arrived.path = kResponses;
    arrived.body = body;
    return preparer.prepare(arrived, RequestId(7), &chain).value();
  };
  EXPECT_EQ(go_on(600).reply_status, 0);
  const Prepared refused = go_on(250);
  EXPECT_EQ(refused.reply_status, 413);
  EXPECT_NE(refused.reply_body.find(R"("param":"previous_response_id")"), std::string::npos);
}

TEST(KeptResponses, AResponseBelongsToItsKeyAndSaysWhenItEnded) {
  HttpArrived arrived;
  arrived.path = kResponses;
  arrived.body = R"({"input":"hi"})";
  arrived.tenant = "alice";
  arrived.unix_seconds = 100;
  const auto chatml = recipe::make_encoding("chatml", nullptr).value();
  const RecipePreparer preparer(
      {{"m", ByteTokenizer::build(), chatml, recipe::ModelVersion::kChatml, 4096}}, "", 1, "s");
  const auto writer =
      preparer.prepare(arrived, RequestId(7), nullptr).value().answer.format->open();
  std::string out;
  writer->passed(milliseconds(7'900));
  writer->finish(Finish::kStop, 0, out);
  EXPECT_EQ(writer->kept()->owner, "alice");
  EXPECT_NE(
      out.find(R"("created_at":100,"status":"completed","background":false,"completed_at":107)"),
      std::string::npos)
      << out;
}

TEST(RawPrompts, EachPromptHasItsIdsAndItsRoom) {
  const Prepared prepared =
      ask_for("/v1/completions", R"({"prompt":["ab","<|im_end|>"],"n":3,"max_tokens":5})");
  EXPECT_EQ(prepared.prompt, (std::vector<TokenId>{TokenId('a'), TokenId('b')}));
  ASSERT_EQ(prepared.more_prompts.size(), 1u);
  EXPECT_EQ(prepared.more_prompts[0].prompt, std::vector<TokenId>{TokenId(258)});
  EXPECT_EQ(prepared.max_tokens, 5u);
  EXPECT_EQ(prepared.choices, 3u);
  const auto writer = prepared.answer.format->open();
  std::string out;
  for (std::uint32_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(out.empty());
    writer->turn_to(i);
    writer->finish(Finish::kStop, 0, out);
  }
  EXPECT_NE(out.find(R"("id":"cmpl-0000000000000007")"), std::string::npos) << out;
  EXPECT_NE(out.find(R"("index":5)"), std::string::npos);
  EXPECT_NE(out.find(R"("prompt_tokens":3,)"), std::string::npos);
}

TEST(RawPrompts, RefusalsNameThePrompt) {
  const auto refusal = [](const std::string& prompt) {
    const Prepared prepared = ask_for("/v1/completions", "{\"prompt\":" + prompt + "}");
    EXPECT_EQ(prepared.reply_status, 400) << prompt;
    return prepared.reply_body;
  };
  EXPECT_NE(refusal(R"("")").find(R"("param":"prompt")"), std::string::npos);
  EXPECT_NE(refusal(R"(["a",""])").find(R"("param":"prompt[1]")"), std::string::npos);
  EXPECT_NE(refusal("[1,259]").find("prompt[1]"), std::string::npos);
  const std::string long_text(500, 'a');
  EXPECT_NE(refusal("\"" + long_text + "\"").find("context_length_exceeded"), std::string::npos);
}

}  // namespace
}  // namespace troupe
