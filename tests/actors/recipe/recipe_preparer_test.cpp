// From a body to what a rank needs, and the refusals on the way there.
#include "actors/recipe/recipe_preparer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "actors/stream_table/answer.hpp"
#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"
#include "tests/runtime/recipe/encoding/tiny_pack.hpp"

namespace troupe {
namespace {

constexpr RequestId kId{0x0003'0000'0000'00afULL};

std::shared_ptr<const recipe::Encoding> chatml() {
  return recipe::make_encoding("chatml", nullptr).value();
}

/// Model "bytes" (the default, a context of 100 tokens) and every script.
RecipePreparer preparer() {
  const auto tokenizer = ByteTokenizer::build();
  constexpr auto kVersion = recipe::ModelVersion::kChatml;
  return RecipePreparer({{"bytes", tokenizer, chatml(), kVersion, 100},
                         {"script/*", tokenizer, chatml(), kVersion, 400}},
                        "fp_test");
}

Prepared prepare(const std::string& body, RequestId id = kId,
                 const std::string& path = "/v1/chat/completions") {
  HttpArrived arrived;
  arrived.path = path;
  arrived.body = body;
  arrived.unix_seconds = 1'700'000'000;
  auto prepared = preparer().prepare(arrived, id, nullptr);
  EXPECT_TRUE(prepared.ok());
  return prepared.ok() ? std::move(prepared).value() : Prepared{};
}

/// A body with one user message and `more` members.
std::string chat(const std::string& more = "", const std::string& text = "hi") {
  return R"({"messages":[{"role":"user","content":")" + text + "\"}]" +
         (more.empty() ? "" : "," + more) + "}";
}

void expect_refused(const Prepared& prepared, int status,
                    const std::vector<std::string>& mentions) {
  EXPECT_EQ(prepared.reply_status, status) << prepared.reply_body;
  EXPECT_EQ(prepared.reply_body.rfind(R"({"error":{)", 0), 0u) << prepared.reply_body;
  for (const auto& part : mentions) {
    EXPECT_NE(prepared.reply_body.find(part), std::string::npos)
        << part << " in " << prepared.reply_body;
  }
}

TEST(PreparerRefusals, BadJsonIsTheClientsFault) {
  expect_refused(prepare("{\"messages\":"), 400, {"invalid_request_error"});
  expect_refused(prepare(""), 400, {"invalid_request_error"});
}

TEST(PreparerRefusals, ParametersOutOfRangeAreNamed) {
  expect_refused(prepare(chat(R"("temperature":3)")), 400, {"temperature"});
  expect_refused(prepare(chat(R"("top_p":0)")), 400, {"top_p"});
}

TEST(PreparerRefusals, AnUnknownModelIsNotFoundAndNamed) {
  expect_refused(prepare(chat(R"("model":"gpt-9")")), 404, {"gpt-9", "model_not_found"});
  expect_refused(prepare(chat(R"("model":"script")")), 404, {"model_not_found"});
}

TEST(PreparerRefusals, WithoutADefaultAModelMustBeNamed) {
  const RecipePreparer scripts(
      {{"script/*", ByteTokenizer::build(), chatml(), recipe::ModelVersion::kChatml, 400}},
      "fp_test");
  HttpArrived arrived;
  arrived.path = "/v1/chat/completions";
  arrived.body = chat();
  const auto prepared = scripts.prepare(arrived, kId, nullptr);
  ASSERT_TRUE(prepared.ok());
  expect_refused(*prepared, 400, {"names no model", "script/*"});
}

TEST(PreparerRefusals, ATooLongConversationNamesBothNumbers) {
  const Prepared fits = prepare(chat());
  const std::size_t around = fits.prompt_length - 2;  // control tokens, role names, line ends
  const std::string text(99 - around, 'x');           // leaves one token for the answer
  EXPECT_EQ(prepare(chat("", text)).reply_status, 0);
  expect_refused(
      prepare(chat("", text + "x")), 400,
      {"context_length_exceeded", "length is 100 tokens", "101 tokens", "100 in the messages"});
}

TEST(PreparerRefusals, LogitBiasNamesTokensThatTheModelHas) {
  EXPECT_EQ(prepare(chat(R"("logit_bias":{"258":5})")).reply_status, 0);
  expect_refused(prepare(chat(R"("logit_bias":{"259":5})")), 400, {"logit_bias", "259"});
}

TEST(PreparerRefusals, ImagesThatNobodySees) {
  using recipe::ModelVersion;
  const RecipePreparer blind(
      {{"v41", ByteTokenizer::build(), recipe::test::tiny_encoding(ModelVersion::kDeepseekV41),
        ModelVersion::kDeepseekV41, 400}},
      "fp_test");
  HttpArrived arrived;
  arrived.path = "/v1/chat/completions";
  arrived.body =
      R"({"messages":[{"role":"user","content":[{"type":"text","text":"what is this?"},
      {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]})";
  const auto prepared = blind.prepare(arrived, kId, nullptr);
  ASSERT_TRUE(prepared.ok());
  expect_refused(*prepared, 400, {"\"messages[0]", "sees no images"});
}

TEST(PreparerPrompt, ItIsEncodedWithItsControlTokens) {
  const Prepared prepared = prepare(chat());
  ASSERT_EQ(prepared.prompt.size(), prepared.prompt_length);
  EXPECT_EQ(prepared.prompt.ids().front(), TokenId(257));  // <|im_start|>
  EXPECT_EQ(ByteTokenizer::build()->decode(prepared.prompt, true),
            "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
}

TEST(PreparerPrompt, ControlTokensThatAUserTypesAreText) {
  const Prepared prepared = prepare(chat("", "<|im_end|>"));
  EXPECT_EQ(std::count(prepared.prompt.begin(), prepared.prompt.end(), TokenId(258)), 1);
}

TEST(PreparerModels, TheFirstIsTheDefaultAndScriptsAreNamed) {
  EXPECT_EQ(prepare(chat()).model, "bytes");
  EXPECT_EQ(prepare(chat()).script, "");
  const Prepared script = prepare(chat(R"("model":"script/hello")"));
  EXPECT_EQ(script.model, "script/hello");
  EXPECT_EQ(script.script, "hello");
}

TEST(PreparerSampling, DefaultsAreTheProtocols) {
  const Prepared prepared = prepare(chat());
  EXPECT_EQ(prepared.sampling.temperature, 1.0F);
  EXPECT_EQ(prepared.sampling.top_p, 1.0F);
  EXPECT_EQ(prepared.sampling.min_p, 0.0F);
  EXPECT_EQ(prepared.sampling.top_k, 0);
  EXPECT_EQ(prepared.sampling.logprobs, -1);
  EXPECT_TRUE(prepared.sampling.bias.empty());
  EXPECT_EQ(prepared.max_tokens, 100 - prepared.prompt_length) << "what the context leaves";
}

TEST(PreparerSampling, WhatTheBodyAsksForReachesTheRank) {
  const Prepared prepared = prepare(
      chat(R"("temperature":0.5,"top_p":0.25,"min_p":0.125,"top_k":40,"seed":12,"max_tokens":9,)"
           R"("logprobs":true,"top_logprobs":4,"logit_bias":{"65":-2})"));
  EXPECT_EQ(prepared.sampling.temperature, 0.5F);
  EXPECT_EQ(prepared.sampling.top_p, 0.25F);
  EXPECT_EQ(prepared.sampling.min_p, 0.125F);
  EXPECT_EQ(prepared.sampling.top_k, 40);
  EXPECT_EQ(prepared.sampling.seed, 12u);
  EXPECT_EQ(prepared.sampling.logprobs, 4);
  ASSERT_EQ(prepared.sampling.bias.size(), 1u);
  EXPECT_EQ(prepared.sampling.bias[0], (std::pair<TokenId, float>{TokenId(65), -2.0F}));
  EXPECT_EQ(prepared.max_tokens, 9u);
}

TEST(PreparerSampling, WithoutASeedTheRequestsIdGivesOne) {
  EXPECT_EQ(prepare(chat()).sampling.seed, prepare(chat()).sampling.seed);
  EXPECT_NE(prepare(chat()).sampling.seed, prepare(chat(), RequestId(1)).sampling.seed);
}

TEST(PreparerStops, TheModelsEndsUnlessTheyAreIgnored) {
  EXPECT_EQ(prepare(chat()).stop_ids, (std::vector<TokenId>{TokenId(258), TokenId(256)}));
  EXPECT_TRUE(prepare(chat(R"("ignore_eos":true)")).stop_ids.empty());
}

TEST(PreparerAnswers, TheFormatFollowsTheBody) {
  EXPECT_FALSE(prepare(chat()).answer.format->streamed());
  const Prepared streamed = prepare(chat(R"("stream":true,"stop":["END"])"));
  ASSERT_TRUE(streamed.answer.format->streamed());
  const auto writer = streamed.answer.format->open();
  std::string out;
  RowTokens tokens;
  for (const char c : std::string("aEND")) tokens.tokens.emplace_back(c);
  EXPECT_TRUE(writer->feed(tokens, out)) << "its stop strings are known";
  EXPECT_NE(out.find(R"("id":"chatcmpl-00030000000000af")"), std::string::npos) << out;
  EXPECT_NE(out.find(R"("created":1700000000)"), std::string::npos);
  EXPECT_NE(out.find(R"("system_fingerprint":"fp_test")"), std::string::npos);
  EXPECT_NE(out.find(R"("model":"bytes")"), std::string::npos);
}

TEST(PreparerProtocols, EachHasItsFormOfRefusalAndOfId) {
  const Prepared refused = prepare("{", kId, "/v1/messages");
  EXPECT_EQ(refused.reply_status, 400);
  EXPECT_EQ(
      refused.reply_body.rfind(R"({"type":"error","error":{"type":"invalid_request_error")", 0), 0u)
      << refused.reply_body;
  const auto first_event = [](const Prepared& prepared) {
    std::string out;
    EXPECT_EQ(prepared.reply_status, 0) << prepared.reply_body;
    if (prepared.reply_status == 0) prepared.answer.format->open()->finish(Finish::kStop, 0, out);
    return out;
  };
  const std::string messages =
      first_event(prepare(R"({"model":"bytes","max_tokens":5,"stream":true,)"
                          R"("messages":[{"role":"user","content":"hi"}]})",
                          kId, "/v1/messages"));
  EXPECT_EQ(messages.rfind("event: message_start\ndata: ", 0), 0u) << messages;
  EXPECT_NE(messages.find(R"("id":"msg_00030000000000af")"), std::string::npos) << messages;
  const std::string responses =
      first_event(prepare(R"({"model":"bytes","stream":true,"input":"hi"})", kId, "/v1/responses"));
  EXPECT_EQ(responses.rfind("event: response.created\ndata: ", 0), 0u) << responses;
  EXPECT_NE(responses.find(R"("id":"resp_00030000000000af")"), std::string::npos) << responses;
}

TEST(PreparerCost, PreparingCostsMoreForALongerBody) {
  HttpArrived small, large;
  large.body.assign(3'000'000, 'x');
  EXPECT_EQ(preparer().modelled_time(small), microseconds(20));
  EXPECT_NEAR(preparer().modelled_time(large).seconds(), 1.0, 0.01);
}

}  // namespace
}  // namespace troupe
