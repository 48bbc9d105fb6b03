#include "runtime/recipe/request/error_body.hpp"
#include "tests/runtime/recipe/request/requests.hpp"

namespace troupe::recipe::messages_test {
namespace {

using test::kPlain;
using test::kV4;
using test::kV41;
using test::summary;

ConversationRequest accepted(const std::string& fields, const char* model = kV41,
                             Compat compat = Compat::kDefault) {
  return test::accepted(Protocol::kMessages, test::body(model, fields), test::options(compat));
}

RequestError refused(const std::string& fields, const char* model = kV41,
                     Compat compat = Compat::kDefault) {
  return test::refused(Protocol::kMessages, test::body(model, fields), test::options(compat));
}

std::string messages(const std::string& list) {
  return R"("max_tokens":9,"messages":[{"role":"user","content":"q"},)" + list + "]";
}

std::string blocks(const std::string& role, const std::string& list) {
  return "{\"role\":\"" + role + "\",\"content\":[" + list + "]}";
}

std::string use(const std::string& id) {
  return R"({"type":"tool_use","name":"f","input":{"a":1},"id":")" + id + "\"}";
}

std::string result(const std::string& id) {
  return R"({"type":"tool_result","content":"r","tool_use_id":")" + id + "\"}";
}

constexpr const char* kTools = R"(,"thinking":{"type":"disabled"},"tools":[{"name":"f",
    "input_schema":{"type":"object"}},{"name":"g","input_schema":{"type":"object"},
    "defer_loading":true}])";

TEST(MessagesRequest, every_block_of_a_user_is_a_message) {
  const std::string list =
      blocks("assistant", use("z") + "," + use("a")) + "," +
      blocks("user", result("a") + "," + result("z") + R"(,{"type":"text","text":"t"})");
  EXPECT_EQ(summary(accepted(messages(list)).conversation), "u:q a:f[z]f[a] t:r@z t:r@a u:t");
  EXPECT_EQ(summary(accepted(messages(list), kV4, Compat::kDeepseek).conversation),
            "u:q a:f[a]f[z] t:r@a t:r@z u:t");
}

TEST(MessagesRequest, thinking_blocks_join) {
  const std::string list = blocks("assistant", R"({"type":"thinking","thinking":"1"},
      {"type":"text","text":"a"},{"type":"thinking","thinking":"2"})");
  EXPECT_EQ(summary(accepted(messages(list + R"(,{"role":"user","content":"x"})")).conversation),
            "u:q a:(1\n\n2)a u:x");
}

TEST(MessagesRequest, results_come_first_and_answer_every_call) {
  const std::string called = blocks("assistant", use("1") + "," + use("2"));
  const std::string text = R"({"type":"text","text":"t"})";
  const auto message = [&](const std::string& next) {
    return refused(messages(called + next)).message;
  };
  EXPECT_TRUE(message("").starts_with("messages.1:`tool_use` ids"));
  EXPECT_TRUE(message("," + blocks("user", text)).starts_with("messages.2: `tool_use` ids"));
  EXPECT_TRUE(message("," + blocks("user", result("1"))).find("after: 2.") != std::string::npos);
  EXPECT_TRUE(message("," + blocks("user", result("x"))).starts_with("unexpected `messages.2"));
  EXPECT_TRUE(message("," + blocks("user", result("1") + "," + result("1")))
                  .starts_with("messages.2.content.1: each tool_use must have a single result"));
}

TEST(MessagesRequest, blocks_belong_to_roles) {
  EXPECT_TRUE(refused(messages(blocks("user", use("1")))).message.find("assistant") !=
              std::string::npos);
  EXPECT_TRUE(refused(messages(blocks("assistant", result("1")))).message.find("user") !=
              std::string::npos);
  EXPECT_TRUE(refused(messages(blocks("user", R"({"type":"thinking","thinking":"x"})")))
                  .message.starts_with("messages.1.content: thinking"));
  EXPECT_EQ(refused(messages(blocks("user", ""))).message,
            "messages.1: all messages must have non-empty content");
}

TEST(MessagesRequest, system_messages_may_stand_anywhere) {
  const std::string list =
      messages(R"({"role":"system","content":"m"},{"role":"user","content":"x"})") +
      R"(,"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}])";
  EXPECT_EQ(summary(accepted(list).conversation), "s:a+b u:q s:m u:x");
  EXPECT_EQ(summary(accepted(list, kV4).conversation), "s:a+b u:q u:(mid m) u:x");
}

// The Anthropic coding CLI sends a block that differs from session to session.
TEST(MessagesRequest, the_billing_header_of_a_client_is_not_for_the_model) {
  const std::string header =
      R"({"type":"text","text":"x-anthropic-billing-header: cc_version=2;"})";
  const std::string text = R"({"type":"text","text":"a"})";
  const std::string turn =
      R"("max_tokens":9,"messages":[{"role":"user","content":"q"}],"system":[)";
  EXPECT_EQ(summary(accepted(turn + header + "," + text + "]").conversation), "s:a u:q");
  EXPECT_EQ(summary(accepted(turn + header + "]").conversation), "u:q");
  const std::string later = summary(accepted(turn + text + "," + header + "]").conversation);
  EXPECT_NE(later.find("billing"), std::string::npos) << "only where the client puts it";
  const auto reference = accepted(turn + header + "," + text + "]", kV41, Compat::kDeepseek);
  EXPECT_NE(summary(reference.conversation).find("billing"), std::string::npos);
}

TEST(MessagesRequest, tools_are_loaded_where_they_are_named) {
  const std::string added = messages(
      blocks("system", R"({"type":"tool_addition","tool":{"type":"tool_reference","name":"g"}})"));
  EXPECT_EQ(summary(accepted(added + kTools).conversation), "u:q s:!g");
  const std::string referred =
      messages(blocks("assistant", use("1")) + "," +
               blocks("user", R"({"type":"tool_result","tool_use_id":"1","content":[{"type":
             "tool_reference","tool_name":"g"}]})"));
  EXPECT_EQ(summary(accepted(referred + kTools).conversation), "u:q a:f[1] t:g@1 s:!g");
  EXPECT_EQ(summary(accepted(referred + kTools, kV4).conversation), "u:q a:f[1] t:g@1");
  const std::string again = messages(
      blocks("system", R"({"type":"tool_addition","tool":{"type":"tool_reference","name":"g"}})") +
      "," + blocks("assistant", use("1")) + "," +
      blocks("user", R"({"type":"tool_result","tool_use_id":"1","content":[
             {"type":"tool_reference","tool_name":"g"},{"type":"tool_reference","tool_name":"f"},
             {"type":"tool_reference","tool_name":"f"}]})"));
  EXPECT_EQ(summary(accepted(again + kTools).conversation), "u:q s:!g a:f[1] t:g+f+f@1 s:!f");
  EXPECT_EQ(summary(test::accepted(Protocol::kMessages, test::body(kV41, again + kTools),
                                   test::options(Compat::kDeepseek))
                        .conversation),
            "u:q s:!g a:f[1] t:g+f+f@1 s:!g!f!f");
  EXPECT_TRUE(refused(added).message.find("unknown tool 'g'") != std::string::npos);
  const std::string deferred = R"("max_tokens":1,"messages":[{"role":"user","content":"q"}],
      "tools":[{"name":"g","input_schema":{"type":"object"},"defer_loading":true}])";
  EXPECT_EQ(refused(deferred).param, "tools");
}

TEST(MessagesRequest, the_default_mode_does_what_the_api_says) {
  const std::string any =
      messages(R"({"role":"user","content":"x"})") + kTools + R"(,"tool_choice":{"type":"any"})";
  EXPECT_EQ(accepted(any).conversation.tool_choice, ToolChoice::kRequired);
  EXPECT_EQ(accepted(any, kV41, Compat::kDeepseek).conversation.tool_choice, ToolChoice::kAuto);

  const std::string prefill = messages(R"({"role":"assistant","content":"An"})");
  EXPECT_EQ(summary(accepted(prefill).conversation), "u:q a:An>");
  EXPECT_EQ(accepted(prefill).parsing.initial, InitialStage::kContentContinuation);
  EXPECT_EQ(summary(accepted(prefill, kV41, Compat::kDeepseek).conversation), "u:q a:An");

  const std::string custom =
      R"("messages":[{"role":"user","content":"q"}],"tools":[{"type":"custom",
      "name":"f","input_schema":{"type":"object"}}])";
  EXPECT_EQ(accepted(custom).conversation.tools.size(), 1u);
  EXPECT_EQ(refused(custom, kV41, Compat::kDeepseek).message,
            "tools[0]: server tools are not supported");

  const std::string redacted = messages(
      blocks("assistant", R"({"type":"redacted_thinking","data":"x"},{"type":"text","text":"a"})") +
      R"(,{"role":"user","content":"x"})");
  EXPECT_EQ(summary(accepted(redacted).conversation), "u:q a:a u:x");

  const std::string document = messages(blocks(
      "user",
      R"({"type":"document","source":{"type":"text","media_type":"text/plain","data":"D"}})"));
  EXPECT_EQ(summary(accepted(document).conversation), "u:q u:D");
  EXPECT_EQ(summary(accepted(document, kV41, Compat::kDeepseek).conversation),
            "u:q u:[Unsupported document type: text/plain]");
}

TEST(MessagesRequest, what_is_not_done_is_refused_by_name_not_ignored) {
  const std::string hi = R"("messages":[{"role":"user","content":"q"}],"max_tokens":500000)";
  EXPECT_EQ(accepted(hi + R"(,"top_k":3,"metadata":{"user_id":"u"})").sampling.top_k, 3u);
  EXPECT_EQ(accepted(hi).sampling.tokens_max, 393216u);  // lowered to the bound
  EXPECT_EQ(refused(hi + R"(,"top_k":-1)").param, "top_k");
  EXPECT_EQ(refused(hi + R"(,"mcp_servers":[{"url":"x"}])").param, "mcp_servers");
  accepted(hi + R"(,"mcp_servers":[])");
  // What the Anthropic coding CLI sends, and other servers ignore.
  accepted(hi + R"(,"context_management":{"edits":[{"type":"clear_thinking_20251015"}]})");
  EXPECT_EQ(refused(hi + R"(,"stop_sequences":[""])").param, "stop_sequences[0]");
  EXPECT_EQ(refused(hi + R"(,"tools":[{"type":"web_search_20250305","name":"w"}])").param,
            "tools[0]");
}

// The tool runner of Anthropic's SDK begins one, and sends whole conversations if it reads this.
TEST(MessagesRequest, conversations_are_not_kept_here) {
  const std::string turn = R"("max_tokens":9,"messages":[{"role":"user","content":"q"}],"thread":)";
  for (const char* thread :
       {R"({"type":"create"})", R"({"type":"continue","previous_message_id":"msg_1"})"}) {
    const RequestError error = refused(turn + thread);
    EXPECT_EQ(error.param, "thread");
    EXPECT_EQ(error_body(Protocol::kMessages, Compat::kDefault, error),
              R"({"type":"error","error":{"type":"invalid_request_error","message":"'thread' is )"
              R"(not supported: send the whole conversation in every request","details":)"
              R"({"error_code":"thread_unsupported_request"}}})");
    accepted(turn + thread, kV41, Compat::kDeepseek);
  }
  accepted(turn + "null");
}

TEST(MessagesRequest, image_data_is_checked_as_strictly_as_by_the_reference) {
  const auto image = [](const std::string& data) {
    return messages(blocks("user", R"({"type":"image","source":{"type":"base64","media_type":
                           "image/png","data":")" +
                                       data + "\"}}"));
  };
  for (const std::string good : {"", "AAAA", "AA==", "AAA=", "/+8="}) accepted(image(good));
  for (const std::string bad : {"A", "AA", "AAA", "AB==", "AAB=", "AA-_", "AA =", "====A"}) {
    EXPECT_TRUE(refused(image(bad)).message.ends_with("base64 decode error")) << bad;
  }
}

TEST(ErrorBody, has_the_form_of_its_protocol) {
  const RequestError error = refused(R"("messages":[])");
  EXPECT_EQ(error_body(Protocol::kMessages, Compat::kDefault, error),
            R"({"type":"error","error":{"type":"invalid_request_error",)"
            R"("message":"messages: at least one message is required"}})");
  EXPECT_EQ(error_body(Protocol::kMessages, Compat::kDeepseek, error),
            R"({"error":{"message":"messages: at least one message is required",)"
            R"("type":"invalid_request_error","param":"messages",)"
            R"("code":"invalid_request_error"}})");
}

TEST(MaxTokens, are_lowered_to_the_room_or_refused) {
  const std::string hi = R"("messages":[{"role":"user","content":"q"}])";
  const auto resolve = [&](const std::string& fields, Compat compat, std::uint64_t prompt) {
    return resolve_max_tokens(accepted(hi + fields, kV41, compat), prompt, 1000);
  };
  const std::string asked = R"(,"max_tokens":500)";
  EXPECT_EQ(std::get<std::uint32_t>(resolve(asked, Compat::kDefault, 900)), 100u);
  EXPECT_EQ(std::get<RequestError>(resolve(asked, Compat::kDeepseek, 900)).code,
            "invalid_request_error");
  EXPECT_EQ(std::get<RequestError>(resolve(asked, Compat::kDefault, 1000)).code,
            "context_length_exceeded");
  EXPECT_EQ(std::get<std::uint32_t>(resolve("", Compat::kDefault, 400)), 600u);
  EXPECT_EQ(std::get<std::uint32_t>(resolve("", Compat::kDeepseek, 1000)), 1u);
  EXPECT_TRUE(std::holds_alternative<RequestError>(resolve("", Compat::kDefault, 1000)));
  EXPECT_EQ(std::get<RequestError>(resolve("", Compat::kDefault, 1001)).param, "messages");
  ConversionOptions strict = test::options();
  strict.reject_tokens_over_room = true;
  const ConversationRequest request =
      test::accepted(Protocol::kMessages, test::body(kPlain, hi + asked), strict);
  EXPECT_TRUE(std::holds_alternative<RequestError>(resolve_max_tokens(request, 900, 1000)));
}

}  // namespace
}  // namespace troupe::recipe::messages_test
