#include "runtime/recipe/chat_events.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/recipe/json_reader.hpp"
#include "runtime/recipe/text/json_writer.hpp"

namespace troupe {
namespace {

const ChatEvents kEvents({"chatcmpl-1", 1700000000, "smollm2", "fp_troupe"});
const std::string kHead =
    R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,)"
    R"("model":"smollm2","system_fingerprint":"fp_troupe","choices":[)";

TEST(ChatEvents, a_stream_has_these_events) {
  EXPECT_EQ(kEvents.role_chunk(),
            "data: " + kHead +
                R"({"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]})"
                "\n\n");
  EXPECT_EQ(kEvents.content_chunk("a\n\"b\""),
            "data: " + kHead +
                R"({"index":0,"delta":{"content":"a\n\"b\""},"finish_reason":null}]})"
                "\n\n");
  EXPECT_EQ(kEvents.finish_chunk(FinishReason::kLength),
            "data: " + kHead +
                R"({"index":0,"delta":{},"finish_reason":"length"}]})"
                "\n\n");
  EXPECT_EQ(kEvents.usage_chunk({7, 3, 2}),
            "data: " + kHead +
                R"(],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,)"
                R"("prompt_tokens_details":{"cached_tokens":2}}})"
                "\n\n");
  EXPECT_EQ(ChatEvents::done(), "data: [DONE]\n\n");
}

TEST(ChatEvents, logprobs_keep_the_bytes_of_half_characters) {
  const std::vector<TokenLogprob> logprobs = {
      {"\xF0\x9F", -0.5, {{"\xF0\x9F", -0.5}, {"a", -std::numeric_limits<double>::infinity()}}}};
  EXPECT_EQ(kEvents.content_chunk("", logprobs),
            "data: " + kHead +
                R"({"index":0,"delta":{"content":""},"logprobs":{"content":[)"
                "{\"token\":\"\uFFFD\",\"logprob\":-0.5,\"bytes\":[240,159],\"top_logprobs\":["
                "{\"token\":\"\uFFFD\",\"logprob\":-0.5,\"bytes\":[240,159]},"
                R"({"token":"a","logprob":-9999,"bytes":[97]}]}],"refusal":null},)"
                R"("finish_reason":null}]})"
                "\n\n");
}

TEST(ChatEvents, a_whole_body_is_a_chat_completion) {
  EXPECT_EQ(kEvents.completion_body("hi", FinishReason::kStop, {1, 2, 0}),
            R"({"id":"chatcmpl-1","object":"chat.completion","created":1700000000,)"
            R"("model":"smollm2","system_fingerprint":"fp_troupe","choices":[{"index":0,)"
            R"("message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],)"
            R"("usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,)"
            R"("prompt_tokens_details":{"cached_tokens":0}}})");
}

TEST(ChatEvents, any_text_gives_one_line_of_valid_json) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text : {all, std::string("\u2028\r\n\t\x1b\x7f"), std::string("\\\"")}) {
    const std::string chunk = kEvents.content_chunk(text);
    ASSERT_TRUE(chunk.starts_with("data: ") && chunk.ends_with("\n\n"));
    const std::string json = chunk.substr(6, chunk.size() - 8);
    EXPECT_EQ(json.find_first_of("\r\n"), std::string::npos);
    EXPECT_TRUE(std::holds_alternative<rapidjson::Document>(parse_json(json)));
  }
}

TEST(ChatEvents, errors_have_a_message_and_nulls_where_nothing_is_known) {
  EXPECT_EQ(ChatEvents::error_event({}),
            R"(data: {"error":{"message":"unknown error","type":"server_error","param":null,)"
            R"("code":null}})"
            "\n\n");
  EXPECT_EQ(error_body(model_not_found("x")),
            R"({"error":{"message":"The model 'x' does not exist. GET /v1/models lists those )"
            R"(that do.","type":"invalid_request_error","param":"model",)"
            R"("code":"model_not_found"}})");
  EXPECT_EQ(context_length_exceeded(10, 5, 8).code, "context_length_exceeded");
  EXPECT_EQ(api_error_of({Code::kUnavailable, "busy"}).status, 503);
  EXPECT_EQ(api_error_of({Code::kInternal, "secret"}).message.find("secret"), std::string::npos);
}

TEST(ChatEvents, models_are_listed) {
  const std::vector<ModelEntry> models = {{"smollm2", 5, 8192}};
  const std::string one = R"({"id":"smollm2","object":"model","created":5,"owned_by":"troupe",)"
                          R"("max_model_len":8192})";
  EXPECT_EQ(models_body(models), R"({"object":"list","data":[)" + one + "]}");
}

TEST(JsonWriter, numbers_that_json_lacks_are_null) {
  JsonWriter json;
  json.open_array().real(std::nan("")).real(0.1).number(std::int64_t{-5}).boolean(true);
  EXPECT_EQ(json.close_array().take(), "[null,0.1,-5,true]");
}

}  // namespace
}  // namespace troupe
