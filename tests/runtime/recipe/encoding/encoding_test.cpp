#include "runtime/recipe/encoding/encoding.hpp"

#include <gtest/gtest.h>

#include "tests/runtime/recipe/encoding/tiny_pack.hpp"

namespace troupe::recipe {
namespace {

using test::assistant;
using test::marked;
using test::system;
using test::talk;
using test::user;

std::string chatml(const Conversation& conversation, std::string_view name = "chatml") {
  return marked(make_encoding(name, nullptr).value()->render(conversation).value());
}

Code chatml_error(const Conversation& conversation) {
  const auto prompt = make_encoding("chatml", nullptr).value()->render(conversation);
  return prompt.ok() ? Code::kInternal : prompt.error().code;
}

TEST(Encoding, is_made_by_name_or_version) {
  for (const char* name : {"deepseek-v4", "deepseek-v4.1"}) {
    const auto without = make_encoding(name, nullptr);
    ASSERT_FALSE(without.ok());
    EXPECT_EQ(without.error().code, Code::kInvalid);
    EXPECT_NE(without.error().message.find("prompt pack"), std::string::npos);
  }
  const auto pack = test::tiny_pack(ModelVersion::kDeepseekV4);
  EXPECT_TRUE(make_encoding("deepseek-v4", pack).ok());
  EXPECT_TRUE(make_encoding(ModelVersion::kDeepseekV4, pack).ok());
  EXPECT_TRUE(make_encoding(ModelVersion::kChatml, nullptr).ok());
  const auto unknown = make_encoding("none", nullptr);
  EXPECT_EQ(unknown.error().code, Code::kUnsupported);
  EXPECT_NE(unknown.error().message.find("chatml"), std::string::npos);
}

TEST(Encoding, templates_are_recognized_not_run) {
  EXPECT_EQ(recognize_encoding("{{'<|im_start|>system\nYou are a helpful AI assistant named SmolLM,"
                               " trained'}}")
                .value(),
            "smollm2");
  EXPECT_EQ(recognize_encoding("{{ '<|im_start|>' + role }}").value(), "chatml");
  EXPECT_EQ(recognize_encoding("{{ '<｜User｜>' }}").value(), "deepseek-v4");
  EXPECT_EQ(recognize_encoding("{{ '<｜System｜>' }}<｜User｜>").value(), "deepseek-v4.1");
  EXPECT_EQ(recognize_encoding("[INST]").error().code, Code::kUnsupported);
}

TEST(Chatml, writes_each_message_and_opens_the_answer) {
  EXPECT_EQ(chatml(talk({user("hi"), assistant("yo"), user("")})),
            "{start}user\nhi{end}\n{start}assistant\nyo{end}\n{start}user\n{end}\n"
            "{start}assistant\n");
  Message parts = user("a");
  parts.parts.emplace_back(std::string());
  parts.parts.emplace_back(std::string("c"));
  EXPECT_EQ(chatml(talk({parts})), "{start}user\na\n\n\n\nc{end}\n{start}assistant\n");
}

TEST(Chatml, smollm2_has_a_default_system_line) {
  EXPECT_EQ(chatml(talk({user("hi")}), "smollm2"),
            "{start}system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
            "Face{end}\n{start}user\nhi{end}\n{start}assistant\n");
  EXPECT_EQ(chatml(talk({system("s"), user("hi")}), "smollm2"),
            "{start}system\ns{end}\n{start}user\nhi{end}\n{start}assistant\n");
}

TEST(Chatml, a_prefix_is_gone_on_with) {
  Message begun = assistant("Once");
  begun.prefix = true;
  EXPECT_EQ(chatml(talk({user("hi"), begun})), "{start}user\nhi{end}\n{start}assistant\nOnce");
}

TEST(Chatml, says_what_it_cannot_write) {
  EXPECT_EQ(chatml_error(talk({})), Code::kInvalid);
  EXPECT_EQ(chatml_error(talk({user("x"), test::result("r")})), Code::kUnsupported);
  EXPECT_EQ(chatml_error(talk({user("x"), test::reminder("r")})), Code::kUnsupported);
  EXPECT_EQ(chatml_error(talk({test::call("f", "{}")})), Code::kUnsupported);
  Message picture = user("x");
  picture.parts.emplace_back(ImageSource{});
  EXPECT_EQ(chatml_error(talk({picture})), Code::kUnsupported);
  Conversation tools = talk({user("x")});
  tools.tools.push_back(test::tool("f"));
  EXPECT_EQ(chatml_error(tools), Code::kUnsupported);
  tools.tool_choice = ToolChoice::kNone;
  EXPECT_EQ(chatml(tools), "{start}user\nx{end}\n{start}assistant\n");
}

}  // namespace
}  // namespace troupe::recipe
