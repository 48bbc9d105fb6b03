#include "runtime/recipe/chat_request.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

/// A body with one user message and these further fields.
std::string with(const std::string& fields) {
  return R"({"model":"m","messages":[{"role":"user","content":"hi"}])" +
         (fields.empty() ? "" : "," + fields) + "}";
}

std::string with_messages(const std::string& messages) {
  return R"({"model":"m","messages":)" + messages + "}";
}

ChatRequest accepted(const std::string& body) {
  auto parsed = parse_chat_request(body);
  if (const auto* error = std::get_if<ApiError>(&parsed)) {
    ADD_FAILURE() << body.substr(0, 300) << "\n" << error->message;
    return {};
  }
  return std::get<ChatRequest>(std::move(parsed));
}

/// The parameter that a 400 names.
std::string refused(const std::string& body) {
  const auto parsed = parse_chat_request(body);
  const auto* error = std::get_if<ApiError>(&parsed);
  if (error == nullptr) return "accepted";
  EXPECT_EQ(error->status, 400);
  EXPECT_EQ(error->type, "invalid_request_error");
  EXPECT_FALSE(error->message.empty());
  EXPECT_LT(error->message.size(), 400u) << error->message;
  return error->param;
}

TEST(ChatRequest, reads_every_field) {
  const ChatRequest request = accepted(with(R"(
      "stream":true,"stream_options":{"include_usage":true},"max_tokens":5,
      "max_completion_tokens":7,"temperature":0.5,"top_p":0.9,"top_k":40,"min_p":0.05,"seed":-3,
      "stop":["a","b"],"logprobs":true,"top_logprobs":20,"n":1,"ignore_eos":true,"user":"u",
      "logit_bias":{"5":-100,"17":2.5})"));
  EXPECT_EQ(request.model, "m");
  EXPECT_TRUE(request.stream && request.include_usage && request.logprobs && request.ignore_eos);
  EXPECT_EQ(request.tokens_max, 7u);
  EXPECT_EQ(request.temperature, 0.5);
  EXPECT_EQ(request.top_p, 0.9);
  EXPECT_EQ(request.top_k, 40u);
  EXPECT_EQ(request.min_p, 0.05);
  EXPECT_EQ(request.seed, ~std::uint64_t{2});
  EXPECT_EQ(request.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.top_logprobs, 20u);
  EXPECT_EQ(request.user, "u");
  EXPECT_EQ(request.logit_bias[1], std::pair(TokenId(17), 2.5f));
}

TEST(ChatRequest, null_and_absent_are_the_same) {
  const ChatRequest request = accepted(with(R"(
      "stream":null,"stream_options":null,"max_tokens":null,"temperature":null,"stop":null,
      "user":null,"tools":null,"logit_bias":null,"n":null,"response_format":null,
      "parallel_tool_calls":null,"anything":{"deep":[1,2]})"));
  EXPECT_FALSE(request.stream);
  EXPECT_FALSE(request.temperature);
  EXPECT_FALSE(request.tokens_max);
  EXPECT_TRUE(request.stop.empty());
}

TEST(ChatRequest, content_has_three_forms) {
  const ChatRequest request = accepted(with_messages(R"([
      {"role":"developer","content":[{"type":"text","text":"s","cache_control":{"a":1}}]},
      {"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
      {"role":"assistant","content":""},
      {"role":"assistant","content":null,"tool_calls":[]},
      {"role":"user","content":"c\u0000\ud83d\ude00"}])"));
  EXPECT_EQ(request.messages, (std::vector<ChatMessage>{{Role::kSystem, "s"},
                                                        {Role::kUser, "a\nb"},
                                                        {Role::kAssistant, ""},
                                                        {Role::kAssistant, ""},
                                                        {Role::kUser, std::string("c\0😀", 6)}}));
}

TEST(ChatRequest, wrong_messages_are_named) {
  EXPECT_EQ(refused(R"({"model":"m"})"), "messages");
  EXPECT_EQ(refused(with_messages("[]")), "messages");
  EXPECT_EQ(refused(with_messages("{}")), "messages");
  EXPECT_EQ(refused(with_messages("[1]")), "messages[0]");
  EXPECT_EQ(refused(with_messages(R"([{"content":"x"}])")), "messages[0].role");
  EXPECT_EQ(refused(with_messages(R"([{"role":"boss","content":"x"}])")), "messages[0].role");
  EXPECT_EQ(refused(with_messages(R"([{"role":"user"}])")), "messages[0].content");
  EXPECT_EQ(refused(with_messages(R"([{"role":"user","content":null}])")), "messages[0].content");
  EXPECT_EQ(refused(with_messages(R"([{"role":"user","content":5}])")), "messages[0].content");
  EXPECT_EQ(refused(with_messages(R"([{"role":"user","content":[5]}])")), "messages[0].content[0]");
  EXPECT_EQ(refused(with_messages(
                R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}])")),
            "messages[0].content[0].type");
  EXPECT_EQ(refused(with_messages(R"([{"role":"user","content":[{"type":"text"}]}])")),
            "messages[0].content[0].text");
  EXPECT_EQ(refused(with_messages(R"([{"role":"user","content":"\udc00"}])")),
            "messages[0].content");
}

TEST(ChatRequest, numbers_out_of_range_are_named) {
  for (const std::string value : {"-0.1", "2.1", "\"0.5\"", "true", "[]"}) {
    EXPECT_EQ(refused(with("\"temperature\":" + value)), "temperature") << value;
  }
  for (const std::string name : {"temperature", "top_p", "min_p", "presence_penalty"}) {
    for (const std::string value : {"NaN", "Infinity", "1e400"}) {
      EXPECT_EQ(refused(with("\"" + name + "\":" + value)), "") << name << value;  // no JSON
    }
  }
  EXPECT_EQ(accepted(with(R"("temperature":2.0)")).temperature, 2.0);
  EXPECT_EQ(accepted(with(R"("temperature":0)")).temperature, 0.0);
  EXPECT_EQ(refused(with(R"("top_p":0)")), "top_p");
  EXPECT_EQ(refused(with(R"("top_p":1.01)")), "top_p");
  EXPECT_EQ(refused(with(R"("min_p":-1)")), "min_p");
  EXPECT_EQ(refused(with(R"("max_tokens":0)")), "max_tokens");
  EXPECT_EQ(refused(with(R"("max_tokens":1.5)")), "max_tokens");
  EXPECT_EQ(refused(with(R"("max_tokens":99999999999999999999)")), "max_tokens");
  EXPECT_EQ(accepted(with(R"("max_tokens":16.0)")).tokens_max, 16u);
  EXPECT_EQ(refused(with(R"("top_k":-2)")), "top_k");
  EXPECT_EQ(accepted(with(R"("top_k":-1)")).top_k, 0u);
  EXPECT_EQ(refused(with(R"("n":0)")), "n");
  EXPECT_EQ(refused(with(R"("n":1000000)")), "n");
  EXPECT_EQ(refused(with(R"("n":2)")), "n");
  EXPECT_EQ(refused(with(R"("top_logprobs":21,"logprobs":true)")), "top_logprobs");
  EXPECT_EQ(refused(with(R"("top_logprobs":2)")), "top_logprobs");
  EXPECT_EQ(refused(with(R"("seed":18446744073709551615)")), "seed");
}

TEST(ChatRequest, stop_strings_are_bounded_and_never_empty) {
  EXPECT_EQ(accepted(with(R"("stop":"x")")).stop, std::vector<std::string>{"x"});
  EXPECT_EQ(accepted(with(R"("stop":[])")).stop, std::vector<std::string>{});
  EXPECT_EQ(refused(with(R"("stop":"")")), "stop");
  EXPECT_EQ(refused(with(R"("stop":["..",""])")), "stop[1]");
  EXPECT_EQ(refused(with(R"("stop":[1])")), "stop[0]");
  EXPECT_EQ(refused(with(R"("stop":7)")), "stop");
  std::string many = "\"a\"";
  for (int i = 0; i < 16; ++i) many += ",\"a\"";
  EXPECT_EQ(refused(with("\"stop\":[" + many + "]")), "stop");
  EXPECT_EQ(refused(with("\"stop\":\"" + std::string(1025, 'x') + "\"")), "stop");
}

TEST(ChatRequest, bias_entries_are_checked) {
  for (const std::string entry : {"\"-1\":5", "\"xyz\":1", "\"5\":1000", "\"\":1", "\"5\":\"1\"",
                                  "\"5 \":1", "\"99999999999\":1"}) {
    EXPECT_EQ(refused(with("\"logit_bias\":{" + entry + "}")), "logit_bias") << entry;
  }
}

TEST(ChatRequest, what_is_not_done_yet_is_refused_not_ignored) {
  const std::string tools = R"("tools":[{"type":"function","function":{"name":"f"}}])";
  EXPECT_EQ(refused(with(tools)), "tools");
  EXPECT_EQ(refused(with(tools + R"(,"tool_choice":"auto")")), "tools");
  accepted(with(tools + R"(,"tool_choice":"none")"));
  accepted(with(R"("tools":[])"));
  EXPECT_EQ(refused(with_messages(R"([{"role":"tool","content":"x"}])")), "messages[0].role");
  EXPECT_EQ(refused(with(R"("response_format":{"type":"json_object"})")), "response_format.type");
  accepted(with(R"("response_format":{"type":"text"})"));
  EXPECT_EQ(refused(with(R"("frequency_penalty":0.5)")), "frequency_penalty");
  accepted(with(R"("frequency_penalty":0)"));
}

TEST(ChatRequest, bad_bodies_end_as_400) {
  const std::string deep(100'000, '[');
  for (const std::string& body :
       {std::string(), std::string("x"), std::string("[]"), std::string("null"),
        std::string("{\"a\":1"), "{\"a\":" + deep + "}", with("\"x\":\"\xFF\""),
        with("") + std::string(1, '\0') + "{}", with("") + "x", with("\"x\":\"\\ud800\"")}) {
    EXPECT_EQ(refused(body), "") << body.substr(0, 60);
  }
}

TEST(ChatRequest, messages_repeat_little_of_the_input) {
  const std::string long_name(5'000, 'x');
  EXPECT_EQ(refused(with_messages(R"([{"role":")" + long_name + R"(","content":"x"}])")),
            "messages[0].role");
  EXPECT_EQ(refused(with("\"logit_bias\":{\"" + long_name + "\":1}")), "logit_bias");
  EXPECT_EQ(
      refused(with_messages(R"([{"role":"user","content":[{"type":")" + long_name + R"("}]}])")),
      "messages[0].content[0].type");
}

TEST(ChatRequest, the_last_of_repeated_keys_counts) {
  EXPECT_EQ(accepted(with(R"("temperature":9,"temperature":1)")).temperature, 1.0);
}

}  // namespace
}  // namespace troupe
