// The rules of V4 (recipe SPEC 4), on a made-up prompt pack.
#include <gtest/gtest.h>

#include "tests/runtime/recipe/encoding/tiny_pack.hpp"

namespace troupe::recipe {
namespace {

using namespace test;

std::string v4(const Conversation& conversation) {
  return render(ModelVersion::kDeepseekV4, conversation);
}

TEST(V4, begins_with_effort_and_opens_reasoning) {
  Conversation c = talk({user("hi")});
  EXPECT_EQ(v4(c), "{bos}{user}hi{assistant}{/think}");
  c.thinking = true;
  EXPECT_EQ(v4(c), "{bos}(high){user}hi{assistant}{think}");
  c.effort = Effort::kXhigh;
  EXPECT_EQ(v4(c), "{bos}(high){user}hi{assistant}{think}");
  c.effort = Effort::kMax;
  EXPECT_EQ(v4(c), "{bos}(max){user}hi{assistant}{think}");
  c.effort = Effort::kLow;
  EXPECT_EQ(v4(c), "{bos}{user}hi{assistant}{think}");
}

TEST(V4, gathers_system_messages_at_the_front) {
  EXPECT_EQ(v4(talk({system("a"), system(""), user("x"), system("b"), user("y"), assistant("z"),
                     system("c")})),
            "{bos}a\n\nb\n\nc{user}x\n\ny{assistant}{/think}z{eos}{assistant}{/think}");
  EXPECT_EQ(v4(talk({system("only")})), "{bos}only{assistant}{/think}");
}

TEST(V4, merges_users_and_results_and_leaves_out_empty_users) {
  EXPECT_EQ(v4(talk({user(""), user("k"), user(""), assistant("y"), user("a"), user("")})),
            "{bos}{user}k{assistant}{/think}y{eos}{user}a{assistant}{/think}");
  EXPECT_EQ(v4(talk({user("")})), "{bos}{user}{assistant}{/think}");
  EXPECT_EQ(v4(talk({result(""), result("r"), user(""), user("k")})),
            "{bos}{user}<tool_result></tool_result>\n\n<tool_result>r</tool_result>\n\nk"
            "{assistant}{/think}");
  Message parts = user("");
  parts.parts.emplace_back(std::string("z"));
  EXPECT_EQ(v4(talk({parts, user("y")})), "{bos}{user}\n\nz\n\ny{assistant}{/think}");
}

TEST(V4, users_behind_results_are_parted_from_them_even_if_they_say_nothing) {
  const std::string result_text = "<tool_result>r</tool_result>";
  for (const auto& silent : {std::vector{user("")}, std::vector{user(""), user("")}}) {
    auto messages = silent;
    messages.insert(messages.begin(), result("r"));
    EXPECT_EQ(v4(talk(messages)), "{bos}{user}" + result_text + "\n\n{assistant}{/think}");
  }
  EXPECT_EQ(
      v4(talk({user("a"), result("r"), user(""), result("r")})),
      "{bos}{user}a{user}" + result_text + "\n\n{user}" + result_text + "{assistant}{/think}");
}

TEST(V4, keeps_every_reminder) {
  EXPECT_EQ(v4(talk({user("x"), reminder("1"), reminder("2"), user("y")})),
            "{bos}{user}x{reminder}1{reminder}2{user}y{assistant}{/think}");
}

TEST(V4, shows_reasoning_only_beside_tools) {
  Message thought = assistant("b");
  thought.reasoning = "r";
  Conversation c = talk({user("a"), thought, assistant("n"), user("d")});
  c.thinking = true;
  EXPECT_EQ(v4(c),
            "{bos}(high){user}a{assistant}{/think}b{eos}{assistant}{/think}n{eos}{user}d"
            "{assistant}{think}");
  c.tools.push_back(tool("f"));
  const std::string schema = R"({"name": "f", "description": "", "parameters": {}})";
  EXPECT_EQ(v4(c), "{bos}(high)(tools {think}:" + schema +
                       "){user}a{assistant}{think}r{/think}b{eos}"
                       "{assistant}{think}{/think}n{eos}{user}d{assistant}{think}");
  c.tool_choice = ToolChoice::kNone;
  EXPECT_EQ(v4(c),
            "{bos}(high){user}a{assistant}{/think}b{eos}{assistant}{/think}n{eos}{user}d"
            "{assistant}{think}");
  c.tool_choice = ToolChoice::kAuto;
  c.thinking = false;
  EXPECT_EQ(v4(c), "{bos}(tools {think}:" + schema +
                       "){user}a{assistant}{/think}b{eos}{assistant}{/think}n{eos}{user}d"
                       "{assistant}{/think}");
}

TEST(V4, writes_schemas_in_source_order_and_style) {
  Conversation c = talk({system("s"), user("x")});
  c.tools = {tool("f"), tool("g")};
  c.tools[0].description = "says \"é\"\n";
  c.tools[0].parameters = R"({"z":[1e-6,1.50,1e16],"a":{"é":null}})";
  c.tools[1].deferred = true;  // V4 shows all of them
  EXPECT_EQ(v4(c),
            "{bos}s(tools {think}:"
            R"({"name": "f", "description": "says \"é\"\n", )"
            R"("parameters": {"z": [1e-6, 1.5, 1e+16], "a": {"é": null}}}|)"
            R"({"name": "g", "description": "", "parameters": {}}))"
            "{user}x{assistant}{/think}");
}

TEST(V4, says_the_format_last) {
  Conversation c = talk({system("s"), user("x")});
  c.tools = {tool("f")};
  c.format.kind = FormatKind::kJsonObject;
  EXPECT_NE(v4(c).find("s(tools {think}:"), std::string::npos);
  EXPECT_NE(v4(c).find(")(json){user}"), std::string::npos);
  c.format = {FormatKind::kJsonSchema, R"({"b":1,"a":1.0})"};
  EXPECT_NE(v4(c).find(R"()(schema){"b": 1, "a": 1.0}{user})"), std::string::npos);
  c.format = {FormatKind::kRegex, "a+"};
  EXPECT_NE(v4(c).find("){user}"), std::string::npos);
}

TEST(V4, writes_calls_with_their_arguments) {
  Message message = call("f", R"({"s":"a\n\"b\"","n":-0,"o":{"k":[1,2]},"t":true,"e":""})");
  message.parts = {std::string("so\n")};
  message.calls.push_back({"2", "g", "{}"});
  EXPECT_EQ(v4(talk({message, result("r")})),
            "{bos}{assistant}{/think}so\n\n\n<{D}tool_calls>\n"
            "<{D}invoke name=\"f\">\n"
            "<{D}parameter name=\"s\" string=\"true\">a\n\"b\"</{D}parameter>\n"
            "<{D}parameter name=\"n\" string=\"false\">-0.0</{D}parameter>\n"
            "<{D}parameter name=\"o\" string=\"false\">{\"k\": [1, 2]}</{D}parameter>\n"
            "<{D}parameter name=\"t\" string=\"false\">true</{D}parameter>\n"
            "<{D}parameter name=\"e\" string=\"true\"></{D}parameter>\n"
            "</{D}invoke>\n"
            "<{D}invoke name=\"g\">\n</{D}invoke>\n"
            "</{D}tool_calls>{eos}{user}<tool_result>r</tool_result>{assistant}{/think}");
}

TEST(V4, arguments_that_are_no_object_stay_as_they_are) {
  const std::string deep = R"({"a":)" + std::string(127, '[') + std::string(127, ']') + "}";
  for (const std::string& arguments :
       {std::string(), std::string("null"), std::string("[1, 2]"), std::string("not json"),
        std::string("\"s\""), std::string(R"({"a":1e400})"), std::string(R"({"a":"\ud800"})"),
        std::string(R"({"a":1} x)"), deep}) {
    EXPECT_NE(v4(talk({call("f", arguments)}))
                  .find("parameter name=\"arguments\" string=\"true\">" + arguments + "</{D}"),
              std::string::npos)
        << arguments;
  }
}

TEST(V4, repeated_arguments_have_the_first_place_and_the_last_value) {
  EXPECT_NE(v4(talk({call("f", R"({"d":1,"e":2,"d":"x"})")}))
                .find("<{D}parameter name=\"d\" string=\"true\">x</{D}parameter>\n"
                      "<{D}parameter name=\"e\" string=\"false\">2</{D}parameter>\n</{D}invoke>"),
            std::string::npos);
}

TEST(V4, a_prefix_is_gone_on_with) {
  Message begun = assistant("No");
  begun.prefix = true;
  EXPECT_EQ(v4(talk({user("x"), begun})), "{bos}{user}x{assistant}{/think}No");
  begun.reasoning = "r";
  Conversation c = talk({user("x"), begun});
  c.thinking = true;
  EXPECT_EQ(v4(c), "{bos}(high){user}x{assistant}{think}r{/think}No");
  c.messages.back().parts = {std::string()};
  EXPECT_EQ(v4(c), "{bos}(high){user}x{assistant}{think}r");
  c.messages.push_back(user("no"));  // not the last: a turn like any other
  EXPECT_EQ(v4(c), "{bos}(high){user}x{assistant}{/think}{eos}{user}no{assistant}{think}");
}

TEST(V4, a_required_call_begins_the_tool_block) {
  Conversation c = talk({user("x")});
  c.tool_choice = ToolChoice::kRequired;
  EXPECT_EQ(v4(c), "{bos}{user}x{assistant}{/think}");  // nothing to call
  c.tools.push_back(tool("f"));
  EXPECT_NE(v4(c).find("{user}x{assistant}{/think}<{D}go>"), std::string::npos);
}

TEST(V4, images_are_a_text) {
  Message picture = user("a");
  picture.parts.emplace_back(ImageSource{ImageSource::Kind::kUrl, "u", "high", "p"});
  const auto prompt = tiny_encoding(ModelVersion::kDeepseekV4)->render(talk({picture})).value();
  EXPECT_EQ(marked(prompt), "{bos}{user}a\n\n(image){assistant}{/think}");
  EXPECT_TRUE(prompt.images.empty());
}

TEST(V4, renders_nothing_said) {
  Conversation c = talk({});
  EXPECT_EQ(v4(c), "{bos}{assistant}{/think}");
  c.thinking = true;
  EXPECT_EQ(v4(c), "{bos}(high){assistant}{think}");
}

}  // namespace
}  // namespace troupe::recipe
