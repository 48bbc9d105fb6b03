// Counting and showing prompts: the numbers are those of a generation, the refusals too.
#include "actors/recipe/prompt_tools.hpp"

#include <gtest/gtest.h>

#include "actors/recipe/recipe_preparer.hpp"
#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"

namespace troupe {
namespace {

RecipePreparer tools() {
  const auto chatml = recipe::make_encoding("chatml", nullptr).value();
  return RecipePreparer(
      {{"bytes", ByteTokenizer::build(), chatml, recipe::ModelVersion::kChatml, 100}}, "fp_test");
}

Prepared ask(const std::string& path, const std::string& body) {
  HttpArrived arrived;
  arrived.path = path;
  arrived.body = body;
  auto prepared = tools().prepare(arrived, RequestId(7), nullptr);
  EXPECT_TRUE(prepared.ok());
  return prepared.ok() ? std::move(prepared).value() : Prepared{};
}

std::string body_of(const std::string& path, const std::string& body) {
  const Prepared prepared = ask(path, body);
  EXPECT_EQ(prepared.reply_status, 200) << prepared.reply_body;
  return prepared.reply_body;
}

void expect_refusal(const std::string& path, const std::string& body, int status,
                    const std::string& mention) {
  const Prepared prepared = ask(path, body);
  EXPECT_EQ(prepared.reply_status, status) << prepared.reply_body;
  EXPECT_NE(prepared.reply_body.find(mention), std::string::npos) << prepared.reply_body;
}

TEST(PromptTools, CountTokensCountsWhatAMessageWouldBeCharged) {
  const std::string messages = R"("messages":[{"role":"user","content":"hi"}])";
  const Prepared message = ask("/v1/messages", R"({"max_tokens":5,)" + messages + "}");
  EXPECT_GT(message.prompt_length, 2u);
  EXPECT_EQ(body_of("/v1/messages/count_tokens", "{" + messages + "}"),
            R"({"input_tokens":)" + std::to_string(message.prompt_length) + "}");
}

TEST(PromptTools, CountTokensRefusesAsMessagesDoes) {
  const std::string path = "/v1/messages/count_tokens";
  expect_refusal(path, R"({"model":"bytes"})", 400, R"({"type":"error","error":{"type":)");
  expect_refusal(path, R"({"model":"bytes"})", 400, "messages");
  expect_refusal(path, R"({"model":"x","messages":[{"role":"user","content":"a"}]})", 404,
                 "not_found_error");
}

TEST(PromptTools, APromptThatIsTooLongIsStillCounted) {
  const std::string text(500, 'a');
  const std::string body = R"({"messages":[{"role":"user","content":")" + text + R"("}]})";
  EXPECT_EQ(ask("/v1/messages", body).reply_status, 400);
  EXPECT_NE(body_of("/v1/messages/count_tokens", body).find(R"("input_tokens":5)"),
            std::string::npos);
}

TEST(PromptTools, RenderShowsThePromptAsTextAndIds) {
  const std::string body =
      body_of("/v1/chat/completions/render",
              R"({"messages":[{"role":"user","content":"hi"}],"temperature":0.5,"max_tokens":3,)"
              R"("stop":"x"})");
  EXPECT_NE(body.find(R"("prompt":"<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n")"),
            std::string::npos)
      << body;
  EXPECT_NE(body.find(R"("token_ids":[257,117,115,)"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("request_id":"chatcmpl-0000000000000007")"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("sampling_params":{"max_tokens":3,"temperature":0.5)"), std::string::npos)
      << body;
  EXPECT_NE(body.find(R"("stop":["x"])"), std::string::npos) << body;
}

TEST(PromptTools, TokenizeOfATextLooksForControlTokens) {
  EXPECT_EQ(body_of("/tokenize", R"({"prompt":"a<|im_end|>"})"),
            R"({"count":2,"max_model_len":100,"tokens":[97,258],"token_strs":null})");
  EXPECT_EQ(body_of("/v1/tokenize", R"({"model":"bytes","prompt":"ab","return_token_strs":true})"),
            R"({"count":2,"max_model_len":100,"tokens":[97,98],"token_strs":["a","b"]})");
}

TEST(PromptTools, TokenizeOfAChatCountsItsPrompt) {
  const std::string body = R"({"messages":[{"role":"user","content":"hi"}]})";
  const std::string count = std::to_string(ask("/v1/chat/completions", body).prompt_length);
  EXPECT_EQ(body_of("/tokenize", body).rfind(R"({"count":)" + count + ",", 0), 0u);
}

TEST(PromptTools, TokenizeNamesWhatItDoesNotDo) {
  expect_refusal("/tokenize", "{}", 400, "prompt");
  expect_refusal("/tokenize", R"({"prompt":["a"]})", 400, "prompt");
  expect_refusal("/tokenize", R"({"prompt":"a","model":"x"})", 404, "model_not_found");
  const std::string chat = R"({"messages":[{"role":"user","content":"hi"}],)";
  expect_refusal("/tokenize", chat + R"("add_generation_prompt":false})", 400,
                 "add_generation_prompt");
  expect_refusal("/tokenize", chat + R"("continue_final_message":true})", 400,
                 "continue_final_message");
  expect_refusal("/tokenize", chat + R"("chat_template":"{{x}}"})", 400, "chat_template");
}

TEST(PromptTools, DetokenizeIsTheWayBack) {
  EXPECT_EQ(body_of("/detokenize", R"({"tokens":[104,105,258]})"), R"({"prompt":"hi<|im_end|>"})");
  EXPECT_EQ(body_of("/v1/detokenize", R"({"tokens":[]})"), R"({"prompt":""})");
}

TEST(PromptTools, AnAnswerManyTimesItsQuestionIsRefused) {
  // 12 MB of text that is 72 MB with its tokens spelled; 23 MB of ids that spell 79 MB.
  const std::string text(12'000'000, 'a');
  expect_refusal("/tokenize", R"({"prompt":")" + text + R"(","return_token_strs":true})", 413,
                 "answer_too_large");
  EXPECT_EQ(ask("/tokenize", R"({"prompt":")" + text.substr(0, 1'000'000) + R"("})").reply_status,
            200);
  std::string ids;
  for (int i = 0; i < 5'800'000; ++i) ids += "257,";  // <|im_start|>: 14 bytes
  expect_refusal("/detokenize", R"({"tokens":[)" + ids + "257]}", 413, "answer_too_large");
}

TEST(PromptTools, DetokenizeNamesTokensThatAreNone) {
  expect_refusal("/detokenize", R"({"tokens":[1,259]})", 400, "tokens[1]");
  expect_refusal("/detokenize", R"({"tokens":[-1]})", 400, "tokens[0]");
  expect_refusal("/detokenize", R"({"tokens":["a"]})", 400, "tokens[0]");
  expect_refusal("/detokenize", R"({"tokens":[99999999999]})", 400, "tokens[0]");
  expect_refusal("/detokenize", R"({"prompt":"a"})", 400, "tokens");
}

}  // namespace
}  // namespace troupe
