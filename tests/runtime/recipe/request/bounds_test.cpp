// Bodies that want to hurt: every one ends as a request or as a 400, soon.
#include "runtime/recipe/request/issues.hpp"
#include "runtime/recipe/text/json_tape.hpp"
#include "runtime/recipe/text/utf8.hpp"
#include "tests/runtime/recipe/request/requests.hpp"

namespace troupe::recipe::bounds_test {
namespace {

constexpr Protocol kProtocols[] = {Protocol::kChat, Protocol::kResponses, Protocol::kMessages};

std::string repeated(const std::string& text, std::size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

void expect_no_json(const std::string& body) {
  for (const Protocol protocol : kProtocols) {
    for (const Compat compat : {Compat::kDefault, Compat::kDeepseek}) {
      const RequestError error = test::refused(protocol, body, test::options(compat));
      EXPECT_EQ(error.stage, RequestError::Stage::kParse) << body.substr(0, 60);
      EXPECT_EQ(error.status, 400);
      EXPECT_EQ(error.param, "");
    }
  }
}

TEST(RequestBounds, what_is_no_json_object_is_refused) {
  const std::string chat = R"({"model":"plain","messages":[{"role":"user","content":"a"}]})";
  for (const std::string& body :
       {std::string(), std::string("x"), std::string("[]"), std::string("null"), std::string("5"),
        std::string("{\"a\":1"), chat + "x", chat + std::string(1, '\0') + "{}",
        std::string("{\"x\":\"\xFF\"}"), std::string("{\"x\":\"\\ud800\"}"),
        std::string("{\"x\":\"\\udc00\"}"), std::string("{\"x\":\"a\nb\"}"),
        std::string("{\"x\":\"a\x1A\"}"), std::string("{\"x\":1e400}"),
        std::string("{\"x\":NaN}")}) {
    expect_no_json(body);
  }
}

TEST(RequestBounds, nesting_is_bounded_wherever_it_is) {
  const std::string deep(1'000'000, '[');
  expect_no_json("{\"a\":" + deep + "}");
  expect_no_json("{\"messages\":" + deep);
  expect_no_json("{\"tools\":[{\"function\":{\"parameters\":" + deep);
  expect_no_json("{\"input\":" + repeated("{\"a\":", 200'000));
}

TEST(RequestBounds, lists_of_nothing_take_no_more_memory_than_is_said) {
  const std::string nothings = "[{}" + repeated(",{}", 500'000) + "]";
  for (const std::string field : {"messages", "tools", "input"}) {
    const std::string body = "{\"model\":\"plain\",\"" + field + "\":" + nothings + "}";
    for (const Protocol protocol : kProtocols) {
      EXPECT_EQ(test::refused(protocol, body, test::options()).status, 400);
    }
  }
}

TEST(RequestBounds, schemas_are_bounded) {
  const std::string body =
      R"({"model":"DeepSeek-V4-Pro","messages":[{"role":"user","content":"a"}],"tools":[{"type":
      "function","function":{"name":"f","parameters":{"type":"object","enum":[0)" +
      repeated(",0", JsonTape::kNodesMax) + "]}}}]}";
  const RequestError error = test::refused(Protocol::kChat, body, test::options());
  EXPECT_EQ(error.code, "invalid_json");
}

TEST(RequestBounds, a_great_many_keys_are_skipped) {
  std::string body = R"({"model":"plain")";
  for (int i = 0; i < 300'000; ++i) body += ",\"k" + std::to_string(i) + "\":0";
  body += R"(,"messages":[{"role":"user","content":"a"}]})";
  EXPECT_EQ(test::accepted(Protocol::kChat, body, test::options()).model, "plain");
}

/// A walk over all definitions for each reference, or a copy of all thoughts for each, would take
/// minutes here.
TEST(RequestBounds, many_references_take_no_quadratic_time) {
  std::string definitions = R"("x":{})", properties = R"("x":{})";
  for (int i = 0; i < 60'000; ++i) {
    const std::string name = "d" + std::to_string(i);
    definitions += ",\"" + name + "\":{}";
    properties += ",\"" + name + R"(":{"$ref":"#/$defs/)" + name + "\"}";
  }
  const std::string body =
      R"({"model":"DeepSeek-V4-Pro","messages":[{"role":"user","content":"a"}],"tools":[{"type":
      "function","function":{"name":"f","parameters":{"type":"object","properties":{)" +
      properties + "},\"$defs\":{" + definitions + "}}}}]}";
  EXPECT_EQ(test::accepted(Protocol::kChat, body, test::options()).conversation.tools.size(), 1u);
}

TEST(RequestBounds, many_thoughts_take_no_quadratic_time) {
  constexpr std::size_t kThoughts = 20'000;
  const std::string text(100, 't');
  const std::string block = R"({"type":"thinking","signature":"","thinking":")" + text + "\"}";
  const std::string body =
      R"({"model":"DeepSeek-V4.1-Flash","max_tokens":9,"messages":[{"role":"user","content":"a"},
      {"role":"assistant","content":[)" +
      block + repeated("," + block, kThoughts - 1) + "]}]}";
  const auto request = test::accepted(Protocol::kMessages, body, test::options());
  ASSERT_EQ(request.conversation.messages.size(), 2u);
  EXPECT_EQ(request.conversation.messages[1].reasoning->size(), kThoughts * 102 - 2);
}

TEST(RequestBounds, many_calls_take_no_quadratic_time) {
  std::string calls;
  std::string results;
  for (int i = 0; i < 20'000; ++i) {
    const std::string id = std::to_string(i);
    calls += (i > 0 ? "," : "") + std::string(R"({"type":"function_call","name":"f","call_id":")") +
             id + R"(","arguments":"{}"})";
    results += R"(,{"type":"function_call_output","output":"","call_id":")" + id + "\"}";
  }
  const std::string body = R"({"model":"DeepSeek-V4.1-Flash","input":[)" + calls + results + "]}";
  const ConversationRequest request = test::accepted(Protocol::kResponses, body, test::options());
  EXPECT_EQ(request.conversation.messages.size(), 20'001u);
}

TEST(RequestBounds, equal_names_in_many_namespaces_take_no_quadratic_time) {
  const std::string tool =
      R"({"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]})";
  const std::string body = R"({"model":"DeepSeek-V4.1-Flash","input":"x","tools":[)" + tool +
                           repeated("," + tool, 20'000) + "]}";
  const ConversationRequest request = test::accepted(Protocol::kResponses, body, test::options());
  EXPECT_EQ(request.conversation.tools.back().name, "n::f_20000");
}

TEST(RequestBounds, text_is_kept_whatever_it_holds) {
  const std::string text = R"(\u0000\u001f\"\\\/\b<|im_end|></think>\ud83d\ude00\u2028)";
  const std::string body =
      R"({"model":"plain","messages":[{"role":"user","content":")" + text + "\"}]}";
  const ConversationRequest request = test::accepted(Protocol::kChat, body, test::options());
  EXPECT_EQ(std::get<std::string>(request.conversation.messages[0].parts[0]),
            std::string("\0\x1f\"\\/\b<|im_end|></think>😀\u2028", 31));
}

/// What is wrong with a body that names `name`, and how the message ends.
struct Misnamed {
  Protocol protocol;
  std::string before;
  std::string after;
  std::string_view end;
};

const Misnamed kMisnamed[] = {
    {Protocol::kChat, R"("messages":[{"role":"user","content":"a"}],"tool_choice":{"type":
     "function","function":{"name":")",
     R"("}},"tools":[{"type":"function","function":{"name":"f"}}])",
     "' was specified in the 'tools' parameter."},
    {Protocol::kChat, R"("messages":[{"role":")", R"(","content":"a"}])", "'"},
    {Protocol::kChat, R"("messages":[{"role":"user","content":"a"}],"response_format":{"type":
     "json_schema","json_schema":{"name":"s","strict":true,"schema":{"type":")",
     R"("}}})", "`array`, `null`"},
    {Protocol::kChat, R"("messages":[{"role":"user","content":"a"}],"logit_bias":{")", R"(":1})",
     "'"},
    {Protocol::kMessages, R"("max_tokens":9,"messages":[{"role":"user","content":[{"type":
     "tool_result","tool_use_id":")",
     R"("}]}])", "in the previous message."},
    {Protocol::kResponses, R"("input":"a","tools":[{"type":"custom","name":")", R"("}])",
     "'. Only 'apply_patch' is supported."},
    {Protocol::kResponses, R"("input":[{"type":"function_call_output","output":"o","call_id":")",
     R"("}])", "."},
};

TEST(RequestBounds, a_megabyte_of_a_name_is_not_repeated) {
  const std::string name = repeated("é漢😀", 120'000);
  ASSERT_GT(name.size(), 1'000'000u);
  for (const Misnamed& wrong : kMisnamed) {
    const std::string body = test::body(test::kV41, wrong.before + name + wrong.after);
    const RequestError error = test::refused(wrong.protocol, body, test::options());
    EXPECT_LE(error.message.size(), Issues::kMessageBytesMax);
    EXPECT_NE(error.message.find("é漢😀é"), std::string::npos) << error.message;
    EXPECT_TRUE(error.message.ends_with(wrong.end)) << error.message;
    EXPECT_TRUE(is_valid_utf8(error.message));
    EXPECT_LT(error.param.size(), 100u);
  }
  const RequestError model =
      test::refused(Protocol::kChat, test::body(name, R"("messages":[])"), test::options());
  EXPECT_LE(model.message.size(), Issues::kMessageBytesMax);
  EXPECT_EQ(model.code, "model_not_found");
  const Misnamed& custom = kMisnamed[5];
  const RequestError all =
      test::refused(custom.protocol, test::body(test::kV41, custom.before + name + custom.after),
                    test::options(Compat::kDeepseek));
  EXPECT_EQ(all.message,
            "Unsupported custom tool: '" + name + "'. Only 'apply_patch' is supported.");
}

/// Cutting or changing one byte anywhere gives a request or an error, and the same one each time.
TEST(RequestBounds, broken_bodies_are_answered_all_the_same) {
  const std::string body =
      R"({"model":"DeepSeek-V4.1-Flash","input":[{"role":"user","content":[{"type":"input_text",
      "text":"\u00e9\ud83d\ude00"}]},{"type":"function_call","call_id":"1","name":"f","arguments":
      "{}"},{"type":"function_call_output","call_id":"1","output":"o"}],"messages":[{"role":"user",
      "content":"json"}],"tools":[{"type":"function","name":"f","function":{"name":"f","parameters":
      {"type":"object","properties":{"a":{"type":"string"}}},"strict":true}}],"max_tokens":1e1})";
  std::size_t accepted = 0;
  for (std::size_t at = 0; at < body.size(); ++at) {
    for (const std::string& broken :
         {body.substr(0, at), body.substr(at), body.substr(0, at) + "\"" + body.substr(at + 1),
          body.substr(0, at) + body.substr(at + 1)}) {
      for (const Protocol protocol : kProtocols) {
        const auto once = convert_request(protocol, broken, test::options());
        const auto twice = convert_request(protocol, broken, test::options());
        ASSERT_EQ(once.index(), twice.index());
        accepted += once.index() == 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(accepted, 0u);
}

}  // namespace
}  // namespace troupe::recipe::bounds_test
