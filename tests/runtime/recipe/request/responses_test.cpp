#include "runtime/recipe/text/json_tape.hpp"
#include "tests/runtime/recipe/request/requests.hpp"

namespace troupe::recipe::responses_test {
namespace {

using test::kPlain;
using test::kV4;
using test::kV41;
using test::summary;

ConversationRequest accepted(const std::string& fields, const char* model = kV41,
                             Compat compat = Compat::kDefault) {
  return test::accepted(Protocol::kResponses, test::body(model, fields), test::options(compat));
}

RequestError refused(const std::string& fields, const char* model = kV41,
                     Compat compat = Compat::kDefault) {
  return test::refused(Protocol::kResponses, test::body(model, fields), test::options(compat));
}

std::string items(const std::string& list) {
  return "\"input\":[" + list + "]";
}

std::string call(const std::string& id) {
  return R"({"type":"function_call","name":"f","arguments":"{}","call_id":")" + id + "\"}";
}

std::string output(const std::string& id) {
  return R"({"type":"function_call_output","output":"o","call_id":")" + id + "\"}";
}

constexpr const char* kUser = R"({"role":"user","content":"q"})";

TEST(ResponsesRequest, a_text_or_instructions_are_enough) {
  EXPECT_EQ(summary(accepted(R"("input":"hi","instructions":"be")").conversation), "s:be u:hi");
  EXPECT_EQ(summary(accepted(R"("instructions":"be")").conversation), "s:be");
  EXPECT_EQ(refused(R"("instructions":"")").param, "input");
  EXPECT_EQ(refused(R"("input":[])").param, "input");
}

TEST(ResponsesRequest, developers_are_systems_except_for_v4) {
  const std::string list = items(R"({"role":"developer","content":"d"},{"type":"message",
      "role":"user","content":[{"type":"input_text","text":"a"},
      {"type":"input_text","text":"b"}]})");
  EXPECT_EQ(summary(accepted(list).conversation), "s:d u:a+b");
  EXPECT_EQ(summary(accepted(list, kV4).conversation), "u:d u:a+b");
}

TEST(ResponsesRequest, items_of_one_turn_are_one_message) {
  const std::string reasoning = R"({"type":"reasoning","content":[{"text":"r1"},{"text":"r2"}]})";
  const std::string text = R"({"role":"assistant","content":"t"})";
  const auto turns = [&](const std::string& list) {
    return summary(accepted(items(kUser + ("," + list))).conversation);
  };
  EXPECT_EQ(turns(reasoning + "," + text + "," + call("1") + "," + output("1")),
            "u:q a:(r1\nr2)tf[1] t:o@1");
  EXPECT_EQ(turns(text + "," + text), "u:q a:t+t");
  EXPECT_EQ(turns(text + "," + reasoning + "," + text), "u:q a:t a:(r1\nr2)t");
  EXPECT_EQ(turns(text + R"(,{"type":"file_search_call"},{"type":"web_search_call"},)" + text),
            "u:q a:t+t");
  EXPECT_EQ(turns(call("1") + "," + output("1") + "," + call("2") + "," + output("2")),
            "u:q a:f[1] t:o@1 a:f[2] t:o@2");
}

TEST(ResponsesRequest, outputs_follow_their_group_of_calls) {
  const auto order = [](Compat compat) {
    const std::string list = call("b") + "," + call("a") + "," + output("a") + "," + call("c") +
                             "," + output("b") + "," + output("c");
    return summary(accepted(items(list), kV41, compat).conversation);
  };
  EXPECT_EQ(order(Compat::kDefault), "a:f[b]f[a]f[c] t:o@b t:o@a t:o@c");
  EXPECT_EQ(order(Compat::kDeepseek), "a:f[a]f[b]f[c] t:o@a t:o@b t:o@c");
  EXPECT_EQ(refused(items(call("a"))).message, "No tool output found for tool call a.");
  EXPECT_EQ(refused(items(call("a") + "," + kUser)).message,
            "No tool output found for tool call a.");
  EXPECT_EQ(refused(items(output("a"))).param, "input[0].call_id");
  EXPECT_EQ(refused(items(R"({"type":"item_reference","id":"x"})")).param, "input[0].type");
  EXPECT_EQ(refused(items(call("a") + "," + call("a"))).message, "Duplicate 'call_id': a.");
  EXPECT_EQ(refused(items(call("a") + "," + output("a") + "," + output("a"))).message,
            "Duplicate tool output for call_id: a.");
  EXPECT_EQ(refused(items(call(""))).param, "input[0].call_id");
}

// Case responses-05.
TEST(ResponsesRequest, outputs_may_come_behind_other_items) {
  const std::string text = R"({"type":"message","role":"assistant","content":"running"})";
  const std::string list = kUser + std::string(",") + call("1") + "," + call("2") + "," + text +
                           "," + output("2") + "," + output("1") + "," + call("3") + "," +
                           output("3");
  EXPECT_EQ(summary(accepted(items(list)).conversation),
            "u:q a:f[1]f[2] t:o@1 t:o@2 a:runningf[3] t:o@3");
  EXPECT_EQ(refused(items(list), kV41, Compat::kDeepseek).message,
            "No tool output found for tool call 1.");
  EXPECT_EQ(refused(items(call("1") + "," + text)).message,
            "No tool output found for tool call 1.");
}

TEST(ResponsesRequest, numbers_beyond_all_ranges_are_named) {
  for (const std::string number : {"3.5e38", "1e39", "-1e300", "1e308"}) {
    for (const std::string name : {"temperature", "top_p"}) {
      const std::string fields = R"("input":"x",")" + name + "\":" + number;
      EXPECT_EQ(refused(fields).param, name);
      EXPECT_EQ(refused(fields, kV4, Compat::kDeepseek).status, 400);
    }
  }
}

TEST(ResponsesRequest, functions_in_namespaces_get_flat_names) {
  const std::string tools = R"("tools":[{"type":"namespace","name":"n","description":"N",
      "tools":[{"type":"function","name":"f","description":"F"},{"type":"function","name":"g"}]},
      {"type":"function","name":"n__f"}],)";
  const std::string history =
      items(R"({"type":"function_call","namespace":"n","name":"f","arguments":"","call_id":"1"},)" +
            output("1"));
  const ConversationRequest request = accepted(tools + history);
  EXPECT_EQ(request.conversation.tools[0].name, "n::f");
  EXPECT_EQ(request.conversation.tools[0].description, "N\nF");
  EXPECT_EQ(request.answer.namespaces.at("n::g"), std::pair(std::string("n"), std::string("g")));
  EXPECT_EQ(summary(request.conversation), "a:n::f[1] t:o@1");
  const ConversationRequest v4 = accepted(tools + history, kV4);
  EXPECT_EQ(v4.conversation.tools[0].name, "n__f_1");  // the other one has the name
  EXPECT_EQ(v4.conversation.tools[0].description, "F");
  EXPECT_EQ(summary(v4.conversation), "a:n__f_1[1] t:o@1");
}

TEST(ResponsesRequest, wrong_tools_are_named) {
  const auto param = [](const std::string& tool) {
    return refused(R"("input":"x","tools":[)" + tool + "]").param;
  };
  EXPECT_EQ(param(R"({"type":"function","name":"a b"})"), "tools[0].name");
  EXPECT_EQ(param(R"({"type":"custom","name":"zz"})"), "tools[0]");
  EXPECT_EQ(param(R"({"type":"namespace","name":"n","tools":[{"type":"function","name":""}]})"),
            "tools[0].tools[0].name");
  EXPECT_EQ(param(R"({"type":"file_search"})"), "tools[0].type");
  accepted(R"("input":"x","tools":[{"type":"file_search"}])", kV41, Compat::kDeepseek);
}

TEST(ResponsesRequest, apply_patch_is_the_tool_of_the_pack) {
  const std::string fields = R"("input":[{"type":"custom_tool_call","name":"apply_patch",
      "input":"a\"b","call_id":"1"},{"type":"custom_tool_call_output","call_id":"1",
      "output":"ok"}],"tools":[{"type":"custom","name":"apply_patch"}])";
  const ConversationRequest request = accepted(fields);
  EXPECT_EQ(request.conversation.tools[0].description, "patches");
  EXPECT_EQ(request.conversation.messages[0].calls[0].arguments, R"({"input":"a\"b"})");
  EXPECT_EQ(request.answer.custom_tools, std::vector<std::string>{"apply_patch"});
  ConversionOptions no_pack = test::options();
  no_pack.pack_v41 = nullptr;
  EXPECT_EQ(test::refused(Protocol::kResponses, test::body(kV41, fields), no_pack).param,
            "tools[0]");
}

TEST(ResponsesRequest, a_search_loads_what_it_found) {
  const std::string list = items(R"({"type":"tool_search_call","call_id":"1","arguments":{"q":1}},
      {"type":"tool_search_output","call_id":"1","tools":[{"type":"function","name":"g"}]})");
  const ConversationRequest request = accepted(list);
  EXPECT_EQ(summary(request.conversation),
            R"(a:tool_search[1] t:[{"type":"function","name":"g","description":null,)"
            R"("parameters":null,"strict":null}]@1 s:!g)");
  ASSERT_EQ(request.conversation.tools.size(), 1u);
  EXPECT_TRUE(request.conversation.tools[0].deferred);
  EXPECT_EQ(summary(accepted(list + R"(,"instructions":"i")", kV4).conversation), "s:i");
}

TEST(ResponsesRequest, the_echo_repeats_the_request) {
  const ConversationRequest request = accepted(R"("input":"x","temperature":0.3,"user":"u",
      "max_output_tokens":9,"text":{"verbosity":"low"},"reasoning":{"effort":"low"},
      "tools":[{"type":"function","name":"f"}],"tool_choice":"auto")");
  const auto echo = JsonDocument::parse(request.answer.echo);
  ASSERT_TRUE(echo);
  const auto member = [&](std::string_view name) {
    std::string out;
    echo->tape().print(echo->tape().find(JsonDocument::kRoot, name), kCompactJson, out);
    return out;
  };
  EXPECT_EQ(member("temperature"), "0.3");
  EXPECT_EQ(member("top_p"), "1.0");
  EXPECT_EQ(member("max_output_tokens"), "9");
  EXPECT_EQ(member("text"), R"({"format":{"type":"text"},"verbosity":"low"})");
  EXPECT_EQ(member("reasoning"), R"({"effort":"low","summary":null})");
  EXPECT_EQ(member("tools"), R"([{"type":"function","name":"f","description":null,)"
                             R"("parameters":null,"strict":null}])");
}

TEST(ResponsesRequest, the_echo_repeats_what_clients_mark_their_requests_with) {
  const std::string fields = R"("input":"x","metadata":{"a":"b"},"parallel_tool_calls":false,
      "prompt_cache_key":"k","safety_identifier":"s")";
  const std::string echo = accepted(fields).answer.echo;
  for (const char* member : {R"("metadata":{"a":"b"})", R"("parallel_tool_calls":false)",
                             R"("prompt_cache_key":"k")", R"("safety_identifier":"s")"}) {
    EXPECT_NE(echo.find(member), std::string::npos) << echo;
  }
  EXPECT_EQ(accepted(fields, kV41, Compat::kDeepseek).answer.echo.find("metadata"),
            std::string::npos);
  std::string pairs;
  for (int i = 0; i < 17; ++i) pairs += ",\"k" + std::to_string(i) + "\":\"v\"";
  for (const std::string& wrong :
       {"{" + pairs.substr(1) + "}", "{\"a\":\"" + std::string(513, 'v') + "\"}",
        "{\"" + std::string(65, 'k') + "\":\"v\"}", std::string(R"({"a":1})"), std::string("[]"),
        std::string("7")}) {
    EXPECT_EQ(refused(R"("input":"x","metadata":)" + wrong).param, "metadata") << wrong;
  }
  accepted(R"("input":"x","metadata":null,"parallel_tool_calls":null)");
  EXPECT_EQ(refused(R"("input":"x","parallel_tool_calls":1)").param, "parallel_tool_calls");
}

TEST(ResponsesRequest, what_is_not_done_is_refused_by_name_not_ignored) {
  const std::pair<const char*, const char*> refusals[] = {
      {"\"previous_response_id\":\"r\"", "previous_response_id"},
      {"\"conversation\":\"c\"", "conversation"},
      {"\"background\":true", "background"},
      {"\"truncation\":\"auto\"", "truncation"}};
  for (const auto& [field, param] : refusals) {
    const std::string fields = std::string(R"("input":"x",)") + field;
    EXPECT_EQ(refused(fields).param, param);
    accepted(fields, kV41, Compat::kDeepseek);
  }
  accepted(R"("input":"x","background":false,"truncation":"disabled","store":true)");
  EXPECT_EQ(refused(R"("input":"x","tools":[{"type":"function","name":"f"}])", kPlain).param,
            "tools");
}

}  // namespace
}  // namespace troupe::recipe::responses_test
