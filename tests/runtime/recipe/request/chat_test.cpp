#include "tests/runtime/recipe/request/requests.hpp"

namespace troupe::recipe::chat_test {
namespace {

using test::kPlain;
using test::kV4;
using test::kV41;
using test::summary;

constexpr const char* kHi = R"("messages":[{"role":"user","content":"hi"}])";

ConversationRequest accepted(const std::string& fields, const char* model = kPlain,
                             Compat compat = Compat::kDefault) {
  return test::accepted(Protocol::kChat, test::body(model, fields), test::options(compat));
}

/// The parameter that is named.
std::string refused(const std::string& fields, const char* model = kPlain,
                    Compat compat = Compat::kDefault) {
  const RequestError error =
      test::refused(Protocol::kChat, test::body(model, fields), test::options(compat));
  EXPECT_EQ(error.status, 400);
  EXPECT_LT(error.message.size(), 400u) << error.message;
  return error.param;
}

std::string message_of(const std::string& fields, const char* model,
                       Compat compat = Compat::kDeepseek) {
  return test::refused(Protocol::kChat, test::body(model, fields), test::options(compat)).message;
}

std::string with(const std::string& fields) {
  return std::string(kHi) + "," + fields;
}

std::string messages(const std::string& list) {
  return "\"messages\":[" + list + "]";
}

// Case reasoning-05: some clients send back what others call reasoning_content.
TEST(ChatRequest, takes_reasoning_of_the_history_by_either_name) {
  const auto reasoning = [](const std::string& fields, Compat compat) {
    const auto list =
        messages(R"({"role":"user","content":"x"},{"role":"assistant","content":"a")" + fields +
                 R"(},{"role":"user","content":"y"})");
    return accepted(list, kV4, compat).conversation.messages[1].reasoning;
  };
  EXPECT_EQ(reasoning(R"(,"reasoning":"r")", Compat::kDefault), "r");
  EXPECT_EQ(reasoning(R"(,"reasoning_content":"c","reasoning":"r")", Compat::kDefault), "c");
  EXPECT_NE(reasoning(R"(,"reasoning":"r")", Compat::kDeepseek), "r");
  EXPECT_NE(reasoning(R"(,"reasoning":{"effort":1})", Compat::kDefault), "r");
}

TEST(ChatRequest, reads_every_field) {
  const ConversationRequest request = accepted(with(R"(
      "stream":true,"stream_options":{"include_usage":true},"max_tokens":5,
      "max_completion_tokens":7,"temperature":0.5,"top_p":0.9,"top_k":40,"min_p":0.05,"seed":-3,
      "stop":["a","b"],"logprobs":true,"top_logprobs":20,"n":1,"ignore_eos":true,"user":"u",
      "logit_bias":{"5":-100,"17":2.5})"));
  EXPECT_EQ(request.model, "plain");
  EXPECT_TRUE(request.stream && request.answer.include_usage);
  EXPECT_EQ(request.user, "u");
  EXPECT_EQ(request.parsing.stops, (std::vector<std::string>{"a", "b"}));
  const Sampling& sampling = request.sampling;
  EXPECT_EQ(sampling.tokens_max, 7u);
  EXPECT_EQ(sampling.temperature, 0.5F);
  EXPECT_EQ(sampling.top_p, 0.9F);
  EXPECT_EQ(sampling.top_k, 40u);
  EXPECT_EQ(sampling.min_p, 0.05F);
  EXPECT_EQ(sampling.seed, ~std::uint64_t{2});
  EXPECT_TRUE(sampling.logprobs && sampling.ignore_eos && sampling.clamp_tokens);
  EXPECT_EQ(sampling.top_logprobs, 20u);
  EXPECT_EQ(sampling.logit_bias[1], std::pair(TokenId(17), 2.5F));
}

TEST(ChatRequest, null_and_absent_are_the_same) {
  const ConversationRequest request = accepted(with(R"(
      "stream":null,"stream_options":null,"max_tokens":null,"temperature":null,"stop":null,
      "user":null,"tools":null,"logit_bias":null,"n":null,"response_format":null,
      "parallel_tool_calls":null,"anything":{"deep":[1,2]})"));
  EXPECT_FALSE(request.stream);
  EXPECT_FALSE(request.sampling.temperature || request.sampling.tokens_max);
  EXPECT_TRUE(request.parsing.stops.empty());
  EXPECT_FALSE(request.conversation.thinking);  // an ordinary model
}

// Case validation-09: parts everywhere, unknown keys, empty assistant turns.
TEST(ChatRequest, content_has_three_forms) {
  const ConversationRequest request = accepted(messages(R"(
      {"role":"developer","content":[{"type":"text","text":"s","cache_control":{"a":1}}]},
      {"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
      {"role":"assistant","content":""},{"role":"assistant","content":null,"tool_calls":[]},
      {"role":"assistant","content":[{"type":"refusal","refusal":"no"}]},
      {"role":"user","content":"c\u0000\ud83d\ude00"})"));
  EXPECT_EQ(summary(request.conversation), std::string("s:s u:a+b a: a: a:no u:c\0😀", 29));
}

TEST(ChatRequest, fields_may_come_in_any_order_and_the_last_of_duplicates_counts) {
  EXPECT_EQ(summary(accepted(messages(R"({"content":[{"text":"x","type":"text"}],"role":"user"})"))
                        .conversation),
            "u:x");
  EXPECT_EQ(accepted(with(R"("temperature":"x","temperature":1)")).sampling.temperature, 1.0F);
  EXPECT_EQ(accepted(with(R"("stop":["a"],"stop":null)")).parsing.stops.size(), 0u);
  EXPECT_EQ(refused(with(R"("temperature":1,"temperature":9)")), "temperature");
}

TEST(ChatRequest, only_the_fields_of_a_role_or_type_count) {
  accepted(messages(R"({"role":"user","content":"x","tool_calls":5,"reasoning_content":[]})"));
  accepted(messages(R"({"role":"user","content":[{"type":"text","text":"x","image_url":5}]})"));
  EXPECT_EQ(refused(messages(R"({"role":"assistant","content":"x","tool_calls":5})")),
            "messages[0].tool_calls");
}

TEST(ChatRequest, wrong_messages_are_named) {
  EXPECT_EQ(refused(R"("x":1)"), "messages");
  EXPECT_EQ(refused(messages("")), "messages");
  EXPECT_EQ(refused(R"("messages":{})"), "messages");
  EXPECT_EQ(refused(messages("1")), "messages[0]");
  EXPECT_EQ(refused(messages(R"({"content":"x"})")), "messages[0].role");
  EXPECT_EQ(refused(messages(R"({"role":"boss","content":"x"})")), "messages[0].role");
  EXPECT_EQ(refused(messages(R"({"role":"user"})")), "messages[0].content");
  EXPECT_EQ(refused(messages(R"({"role":"user","content":null})")), "messages[0].content");
  EXPECT_EQ(refused(messages(R"({"role":"user","content":5})")), "messages[0].content");
  EXPECT_EQ(refused(messages(R"({"role":"user","content":[5]})")), "messages[0].content[0]");
  EXPECT_EQ(refused(messages(R"({"role":"user","content":[{"type":"x"}]})")),
            "messages[0].content[0].type");
  EXPECT_EQ(refused(messages(R"({"role":"user","content":[{"type":"text"}]})")),
            "messages[0].content[0].text");
}

// Cases validation-03 and validation-05.
TEST(ChatRequest, numbers_out_of_range_are_named) {
  for (const std::string value : {"-0.1", "2.1", "\"0.5\"", "true", "[]"}) {
    EXPECT_EQ(refused(with("\"temperature\":" + value)), "temperature") << value;
  }
  for (const std::string name : {"temperature", "top_p", "min_p", "presence_penalty"}) {
    for (const std::string value : {"NaN", "Infinity", "1e400"}) {
      EXPECT_EQ(refused(with("\"" + name + "\":" + value)), "") << name << value;  // no JSON
    }
  }
  EXPECT_EQ(accepted(with(R"("temperature":2.0)")).sampling.temperature, 2.0F);
  EXPECT_EQ(accepted(with(R"("temperature":0)")).sampling.temperature, 0.0F);
  EXPECT_EQ(accepted(with(R"("max_tokens":16.0)")).sampling.tokens_max, 16u);
  EXPECT_EQ(accepted(with(R"("max_tokens":500000)")).sampling.tokens_max, 393216u);
  EXPECT_NE(message_of(with(R"("max_tokens":500000)"), kV4), "") << "the reference refuses it";
  EXPECT_EQ(accepted(with(R"("top_k":-1)")).sampling.top_k, 0u);
  const std::pair<const char*, const char*> wrong[] = {
      {"\"top_p\":0", "top_p"},
      {"\"top_p\":1.01", "top_p"},
      {"\"min_p\":-1", "min_p"},
      {"\"max_tokens\":0", "max_tokens"},
      {"\"max_tokens\":1.5", "max_tokens"},
      {"\"max_tokens\":99999999999999999999", "max_tokens"},
      {"\"top_k\":-2", "top_k"},
      {"\"n\":0", "n"},
      {"\"n\":1000000", "n"},
      {"\"n\":129", "n"},
      {"\"top_logprobs\":2", "top_logprobs"},
      {"\"top_logprobs\":21,\"logprobs\":true", "top_logprobs"},
      {"\"seed\":18446744073709551615", "seed"},
      {"\"frequency_penalty\":0.5", "frequency_penalty"}};
  for (const auto& [fields, param] : wrong) EXPECT_EQ(refused(with(fields)), param) << fields;
  accepted(with(R"("frequency_penalty":0)"));
}

TEST(ChatRequest, stop_strings_are_bounded_and_never_empty) {
  EXPECT_EQ(accepted(with(R"("stop":"x")")).parsing.stops, std::vector<std::string>{"x"});
  EXPECT_EQ(refused(with(R"("stop":"")")), "stop");
  EXPECT_EQ(refused(with(R"("stop":["..",""])")), "stop[1]");
  EXPECT_EQ(refused(with(R"("stop":[1])")), "stop[0]");
  EXPECT_EQ(refused(with(R"("stop":7)")), "stop");
  EXPECT_EQ(refused(with("\"stop\":\"" + std::string(1025, 'x') + "\"")), "stop");
  std::string many = "\"a\"";
  for (int i = 0; i < 16; ++i) many += ",\"a\"";
  EXPECT_EQ(refused(with("\"stop\":[" + many + "]")), "stop");
}

// Case validation-01.
TEST(ChatRequest, bias_entries_are_checked) {
  for (const std::string entry : {"\"-1\":5", "\"xyz\":1", "\"5\":1000", "\"\":1", "\"5\":\"1\"",
                                  "\"5 \":1", "\"99999999999\":1"}) {
    EXPECT_EQ(refused(with("\"logit_bias\":{" + entry + "}")), "logit_bias") << entry;
  }
}

TEST(ChatRequest, what_is_not_done_is_refused_by_name_not_ignored) {
  for (const std::string field :
       {"min_tokens", "best_of", "stop_token_ids", "functions", "web_search_options", "guided_json",
        "structured_outputs", "regex", "bad_words", "continue_final_message",
        "skip_special_tokens"}) {
    EXPECT_EQ(refused(with("\"" + field + "\":[3]")), field);
    accepted(with("\"" + field + "\":null"));
    accepted(with("\"" + field + "\":[3]"), kV4, Compat::kDeepseek);  // the reference ignores it
  }
  EXPECT_EQ(refused(with(R"("guided_json":{})")), "guided_json");  // any JSON
  EXPECT_EQ(refused(with(R"("skip_special_tokens":false)")), "skip_special_tokens");
  accepted(with(R"("skip_special_tokens":true,"echo":false,"length_penalty":1.0,"bad_words":[],
      "add_generation_prompt":true,"best_of":1,"lora_path":"","nobody_knows":1)"));
  const std::string tools = R"("tools":[{"type":"function","function":{"name":"f"}}])";
  EXPECT_TRUE(accepted(with(tools + R"(,"parallel_tool_calls":false)"), kV4).parsing.one_call);
  EXPECT_FALSE(accepted(with(tools), kV4).parsing.one_call);
  EXPECT_EQ(refused(with(tools)), "tools");  // an ordinary model
  accepted(with(tools + R"(,"tool_choice":"none")"));
  accepted(with(R"("tools":[])"));
  EXPECT_EQ(refused(with(R"("response_format":{"type":"json_object"})")), "response_format.type");
}

// Case reasoning-03: JSON may speak of thinking, whichever format asks for it.
TEST(ChatRequest, both_formats_of_json_are_parsed_as_json) {
  const std::string schema =
      messages(R"({"role":"user","content":"json"})") +
      R"(,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":
      {"type":"object","properties":{}}}})";
  EXPECT_TRUE(accepted(schema, kV4).parsing.json);
  EXPECT_FALSE(accepted(schema, kV4, Compat::kDeepseek).parsing.json);
  EXPECT_TRUE(accepted(messages(R"({"role":"user","content":"json"})") +
                           R"(,"response_format":{"type":"json_object"})",
                       kV4)
                  .parsing.json);
}

// Case validation-08.
TEST(ChatRequest, names_of_tools_differ_and_are_plain) {
  const auto tools = [](const std::string& a, const std::string& b) {
    return with(R"("tools":[{"type":"function","function":{"name":")" + a +
                R"("}},{"type":"function","function":{"name":")" + b + "\"}}]");
  };
  accepted(tools("a", "b"), kV41);
  EXPECT_EQ(refused(tools("a", "a"), kV41), "tools");
  EXPECT_EQ(refused(tools("a", "a b"), kV41), "tools[1].function.name");
  EXPECT_EQ(refused(with(R"("tool_choice":"required")"), kV41), "tool_choice");
}

// Case validation-08.
TEST(ChatRequest, tools_need_no_parameters) {
  const std::string tools = R"("tools":[{"type":"function","function":{"name":"a","parameters":{}}},
      {"type":"function","function":{"name":"b"}},{"type":"function","function":{"name":"c",
      "parameters":{"type":"object","properties":{}},"strict":true}}],"tool_choice":"required")";
  const ConversationRequest request = accepted(with(tools), kV41);
  EXPECT_EQ(request.conversation.tools.size(), 3u);
  EXPECT_EQ(request.conversation.tool_choice, ToolChoice::kRequired);
  EXPECT_TRUE(request.parsing.starts_in_tools);
  EXPECT_FALSE(request.conversation.thinking);  // nobody asked for it
  EXPECT_EQ(refused(with(tools + R"(,"reasoning_effort":"high")"), kV41), "tool_choice");
  EXPECT_NE(message_of(with(tools), kV41), "");  // the reference takes no empty parameters
}

TEST(ChatRequest, models_are_known_by_name_or_pattern) {
  EXPECT_EQ(accepted(kHi, "script/7").version, ModelVersion::kChatml);
  EXPECT_EQ(accepted(kHi, kV4).version, ModelVersion::kDeepseekV4);
  const RequestError unknown =
      test::refused(Protocol::kChat, test::body("zz", kHi), test::options());
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.code, "model_not_found");
  const std::string nameless = std::string("{") + kHi + "}";
  EXPECT_EQ(test::accepted(Protocol::kChat, nameless, test::options()).model, "plain");
  EXPECT_EQ(test::refused(Protocol::kChat, nameless, test::options(Compat::kDeepseek)).stage,
            RequestError::Stage::kParse);
}

TEST(ChatRequest, thinking_is_on_unless_something_turns_it_off) {
  const auto thinking = [](const std::string& fields) {
    return accepted(with(fields), kV41).conversation.thinking;
  };
  EXPECT_TRUE(thinking(R"("x":1)"));
  EXPECT_FALSE(thinking(R"("reasoning_effort":"none")"));
  EXPECT_FALSE(thinking(R"("thinking":{"type":"disabled"},"reasoning_effort":"max")"));
  EXPECT_TRUE(thinking(R"("thinking":{"type":"adaptive"},"reasoning_effort":"none")"));
  EXPECT_FALSE(thinking(R"("chat_template_kwargs":{"enable_thinking":false})"));
  EXPECT_FALSE(thinking(R"("chat_template_kwargs":{"thinking":false})"));
  EXPECT_TRUE(thinking(R"("chat_template_kwargs":{"thinking":false},"reasoning_effort":"low")"));
  EXPECT_EQ(refused(with(R"("chat_template_kwargs":{"tools":[]})")), "chat_template_kwargs.tools");
  EXPECT_EQ(refused(with(R"("chat_template_kwargs":{"thinking":1})")),
            "chat_template_kwargs.thinking");
  EXPECT_EQ(refused(with(R"("chat_template_kwargs":[])")), "chat_template_kwargs");
  EXPECT_EQ(accepted(with(R"("reasoning_effort":"ultra")"), kV41).conversation.effort,
            Effort::kMax);
  EXPECT_EQ(accepted(with(R"("reasoning_effort":"minimal")"), kV4).conversation.effort,
            Effort::kLow);
}

TEST(ChatRequest, thinking_rules_what_is_sampled) {
  const auto top_p = [](const std::string& fields, const char* model, Compat compat) {
    return *accepted(with(fields), model, compat).sampling.top_p;
  };
  const std::string off = R"("thinking":{"type":"disabled"},"top_p":0.5)";
  EXPECT_EQ(top_p(R"("top_p":0.5)", kV4, Compat::kDeepseek), 1.0F);
  EXPECT_EQ(top_p(R"("top_p":0.5)", kV41, Compat::kDeepseek), 0.95F);
  EXPECT_EQ(top_p(off, kV4, Compat::kDeepseek), 0.5F);
  EXPECT_EQ(top_p(off, kV41, Compat::kDeepseek), 1.0F);
  EXPECT_EQ(top_p(off, kV41, Compat::kDefault), 0.5F);
  EXPECT_EQ(*accepted(with(R"("temperature":0.2)"), kV4).sampling.temperature, 1.0F);
  EXPECT_EQ(*accepted(with(R"("temperature":0.2)"), kPlain).sampling.temperature, 0.2F);
}

TEST(ChatRequest, results_follow_their_calls_in_the_order_of_the_calls) {
  const std::string calls = R"({"role":"user","content":"q"},{"role":"assistant","tool_calls":[
      {"id":"z","type":"function","function":{"name":"f","arguments":"{}"}},
      {"id":"a","type":"function","function":{"name":"g","arguments":"{}"}}]})";
  const std::string results = R"(,{"role":"tool","tool_call_id":"a","content":"A"},
      {"role":"tool","tool_call_id":"z","content":"Z"})";
  EXPECT_EQ(summary(accepted(messages(calls + results), kV4).conversation),
            "u:q a:f[z]g[a] t:Z@z t:A@a");
  EXPECT_EQ(summary(accepted(messages(calls + results), kV4, Compat::kDeepseek).conversation),
            "u:q a:g[a]f[z] t:A@a t:Z@z");  // the reference sorts by id
  EXPECT_EQ(refused(messages(calls), kV4), "messages[2]");
  EXPECT_EQ(refused(messages(calls + R"(,{"role":"user","content":"x"})"), kV4), "messages[2]");
}

TEST(ChatRequest, a_prefix_is_continued) {
  const std::string prefix =
      R"({"role":"user","content":"q"},{"role":"assistant","content":"An","prefix":true})";
  const ConversationRequest request = accepted(messages(prefix), kV41);
  EXPECT_EQ(summary(request.conversation), "u:q a:An>");
  EXPECT_EQ(request.parsing.initial, InitialStage::kContentContinuation);
  EXPECT_EQ(refused(messages(prefix + R"(,{"role":"user","content":"x"})"), kV41), "messages");
}

TEST(ChatRequest, images_are_sources_for_v41_and_texts_for_v4) {
  const std::string image = messages(
      R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/a.png"}}]})");
  EXPECT_EQ(summary(accepted(image, kV41).conversation), "u:<.messages[0]>");
  EXPECT_EQ(summary(accepted(image, kV4).conversation), "u:(image)");
  EXPECT_EQ(refused(image, kPlain), "messages");
  EXPECT_EQ(refused(messages(R"({"role":"user","content":[{"type":"image_url",
                             "image_url":{"url":"ftp://x"}}]})"),
                    kV41),
            ".messages[0]");
}

TEST(ChatRequest, messages_repeat_little_of_the_input) {
  const std::string long_name(5'000, 'x');
  EXPECT_EQ(refused(messages(R"({"role":")" + long_name + R"(","content":"x"})")),
            "messages[0].role");
  EXPECT_EQ(refused(with("\"logit_bias\":{\"" + long_name + "\":1}")), "logit_bias");
}

}  // namespace
}  // namespace troupe::recipe::chat_test
