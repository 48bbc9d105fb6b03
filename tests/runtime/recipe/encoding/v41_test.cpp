// The rules of V4.1 that differ from V4's (recipe SPEC 4), on a made-up prompt pack.
#include <gtest/gtest.h>

#include "tests/runtime/recipe/encoding/tiny_pack.hpp"

namespace troupe::recipe {
namespace {

using namespace test;

std::string v41(const Conversation& conversation) {
  return render(ModelVersion::kDeepseekV41, conversation);
}

std::string schema_of(const std::string& name) {
  return "{\"name\": \"" + name + "\", \"description\": \"\", \"parameters\": {}}";
}

TEST(V41, has_a_head_only_if_there_is_something_to_say) {
  Conversation c = talk({user("x")});
  EXPECT_EQ(v41(c), "{bos}{user}x{assistant}{/think}");
  c.thinking = true;
  EXPECT_EQ(v41(c), "{bos}{system}(high){user}x{assistant}{think}");
  c.messages.insert(c.messages.begin(), system("s"));
  EXPECT_EQ(v41(c), "{bos}{system}(high)s{user}x{assistant}{think}");
  EXPECT_EQ(v41(talk({system(""), user("x")})), "{bos}{system}{user}x{assistant}{/think}");
  Conversation json = talk({user("x"), system("m")});
  json.format.kind = FormatKind::kJsonObject;
  EXPECT_EQ(v41(json), "{bos}{system}(json){user}x{system}m{assistant}{/think}");
}

TEST(V41, keeps_system_messages_in_place) {
  EXPECT_EQ(v41(talk({system("a"), system("b"), user("x"), system("c"), user("y"), assistant("z"),
                      system("d")})),
            "{bos}{system}a{system}b{user}x{system}c{user}y{assistant}{/think}z{eos}{system}d"
            "{assistant}{/think}");
}

TEST(V41, keeps_empty_users) {
  EXPECT_EQ(v41(talk({user(""), user("k"), user(""), assistant("y"), user("a"), user("")})),
            "{bos}{user}\n\nk\n\n{assistant}{/think}y{eos}{user}a\n\n{assistant}{/think}");
  EXPECT_EQ(v41(talk({result(""), user(""), user("k")})),
            "{bos}{user}<tool_result></tool_result>\n\n\n\nk{assistant}{/think}");
}

TEST(V41, of_reminders_in_a_row_the_first_counts) {
  EXPECT_EQ(
      v41(talk({user("x"), reminder("1"), reminder("2"), reminder("3"), user("y"), reminder("4")})),
      "{bos}{user}x{reminder}1{user}y{reminder}4{assistant}{/think}");
  EXPECT_EQ(v41(talk({user("x"), reminder("1"), system(""), reminder("2")})),
            "{bos}{user}x{reminder}1{system}{reminder}2{assistant}{/think}");
}

TEST(V41, has_its_own_tags_and_an_empty_line_without_arguments) {
  Message message = call("f", R"({"x":1e-6,"y":"<"})");
  message.calls.push_back({"2", "g", " {} "});
  EXPECT_EQ(v41(talk({message, result("r")})),
            "{bos}{assistant}{/think}\n\n<{D} calls>\n"
            "<{D} invoke name=\"f\">\n"
            "<{D} parameter name=\"x\" string=\"false\">1e-06</{D} parameter>\n"
            "<{D} parameter name=\"y\" string=\"true\"><</{D} parameter>\n"
            "</{D} invoke>\n"
            "<{D} invoke name=\"g\">\n\n</{D} invoke>\n"
            "</{D} calls>{eos}{user}<tool_result>r</tool_result>{assistant}{/think}");
}

TEST(V41, shows_deferred_tools_where_they_are_loaded) {
  Message load = system("text");
  load.loaded_tools = {"g", "gone", "f"};
  Conversation c = talk({user("x"), load, user("y")});
  c.tools = {tool("f"), tool("g"), tool("h")};
  c.tools[1].deferred = c.tools[2].deferred = true;
  EXPECT_EQ(v41(c), "{bos}{system}(tools {think}:" + schema_of("f") + "){user}x{system}text(new)" +
                        schema_of("g") + "|" + schema_of("f") + "{user}y{assistant}{/think}");
}

TEST(V41, loading_again_and_again_is_bounded) {
  Message load = system("");
  load.loaded_tools.assign(100, "g");
  Conversation c = talk({load});
  c.tools = {tool("g")};
  c.tools[0].description = std::string(1 << 20, 'x');
  const auto encoding = tiny_encoding(ModelVersion::kDeepseekV41);
  const auto refused = encoding->render(c);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("load each tool once"), std::string::npos);
  c.messages[0].loaded_tools.resize(60);
  EXPECT_TRUE(encoding->render(c).ok());
}

TEST(V41, a_first_system_message_loads_behind_the_sections) {
  Message load = system("s");
  load.loaded_tools = {"g"};
  Conversation c = talk({load, user("x")});
  c.tools = {tool("g")};
  c.tools[0].deferred = true;
  c.format.kind = FormatKind::kJsonObject;
  EXPECT_EQ(v41(c), "{bos}{system}s(tools {think}:)(json)(new)" + schema_of("g") +
                        "{user}x{assistant}{/think}");
}

TEST(V41, deferred_tools_are_tools) {
  Message thought = assistant("b");
  thought.reasoning = "r";
  Conversation c = talk({user("a"), thought});
  c.thinking = true;
  c.tools = {tool("g")};
  c.tools[0].deferred = true;
  EXPECT_EQ(v41(c),
            "{bos}{system}(high)(tools {think}:){user}a{assistant}{think}r{/think}b{eos}"
            "{assistant}{think}");
}

TEST(V41, each_image_is_a_token) {
  Message picture = user("a");
  picture.parts.emplace_back(ImageSource{ImageSource::Kind::kDataUrl, "data:x", "low", "p0"});
  picture.parts.emplace_back(std::string("<｜image｜>"));
  Message seen = result("r");
  seen.parts.emplace_back(ImageSource{ImageSource::Kind::kUrl, "u", "high", "p1"});
  const auto prompt =
      tiny_encoding(ModelVersion::kDeepseekV41)->render(talk({picture, seen})).value();
  EXPECT_EQ(marked(prompt),
            "{bos}{user}a\n\n{image}\n\n<｜image｜>\n\n<tool_result>r\n\n{image}</tool_result>"
            "{assistant}{/think}");
  ASSERT_EQ(prompt.images.size(), 2u);
  EXPECT_EQ(prompt.images[0].path, "p0");
  EXPECT_EQ(prompt.images[1].path, "p1");
}

TEST(V41, a_prefix_is_gone_on_with) {
  Message begun = assistant("No");
  begun.prefix = true;
  EXPECT_EQ(v41(talk({user("x"), begun})), "{bos}{user}x{assistant}{/think}No");
  Conversation c = talk({user("x"), begun});
  c.thinking = true;
  EXPECT_EQ(v41(c), "{bos}{system}(high){user}x{assistant}{think}{/think}No");
}

TEST(V41, a_required_call_begins_the_tool_block) {
  Conversation c = talk({user("x")});
  c.tools.push_back(tool("f"));
  c.tool_choice = ToolChoice::kRequired;
  EXPECT_NE(v41(c).find("{user}x{assistant}{/think}<{D}go>"), std::string::npos);
}

TEST(V41, renders_nothing_said) {
  Conversation c = talk({});
  c.thinking = true;
  EXPECT_EQ(v41(c), "{bos}{assistant}{think}");  // no effort without messages
  c.tools.push_back(tool("f"));
  EXPECT_EQ(v41(c), "{bos}{system}(high)(tools {think}:" + schema_of("f") + "){assistant}{think}");
}

}  // namespace
}  // namespace troupe::recipe
