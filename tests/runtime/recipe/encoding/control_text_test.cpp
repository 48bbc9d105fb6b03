// Property: the spelling of a control token is text wherever a client can put it. The special
// ranges of a conversation are those of the same conversation with harmless texts.
#include <gtest/gtest.h>

#include "runtime/base/rng.hpp"
#include "runtime/recipe/text/json_reprint.hpp"
#include "tests/runtime/recipe/encoding/tiny_pack.hpp"

namespace troupe::recipe {
namespace {

using namespace test;

constexpr const char* kSpellings[] = {"<｜begin▁of▁sentence｜>",
                                      "<｜end▁of▁sentence｜>",
                                      "<｜System｜>",
                                      "<｜User｜>",
                                      "<｜Assistant｜>",
                                      "<｜latest_reminder｜>",
                                      "<think>",
                                      "</think>",
                                      "｜DSML｜",
                                      "<｜image｜>",
                                      "<|im_start|>",
                                      "<|im_end|>",
                                      "</｜DSML｜ calls>",
                                      "</tool_result>"};

/// Texts of a conversation: hostile ones, or as many harmless ones.
class Texts {
 public:
  Texts(std::uint64_t seed, bool hostile) : random_(seed), hostile_(hostile) {}

  std::size_t below(std::size_t n) { return random_.below(n); }

  std::string next() {
    std::string text = "t";
    const std::size_t pieces = 1 + below(3);
    for (std::size_t i = 0; i < pieces; ++i) text += kSpellings[below(std::size(kSpellings))];
    texts_.push_back(hostile_ ? text : "t");
    return texts_.back();
  }
  std::string quoted() {
    std::string out;
    append_json_string(out, next());
    return out;
  }
  const std::vector<std::string>& all() const { return texts_; }

 private:
  Rng random_;
  bool hostile_;
  std::vector<std::string> texts_;
};

Message random_message(Texts& texts) {
  constexpr Role kRoles[] = {Role::kSystem, Role::kUser, Role::kAssistant, Role::kTool,
                             Role::kLatestReminder};
  const Role role = kRoles[texts.below(std::size(kRoles))];
  Message message = say(role, texts.next());
  if (texts.below(3) == 0) message.parts.emplace_back(texts.next());
  if (message.role != Role::kAssistant) return message;
  if (texts.below(2) == 0) message.reasoning = texts.next();
  if (texts.below(2) == 0) {
    const std::string name = texts.next();
    const std::string key = texts.quoted();
    const std::string value = texts.quoted();
    message.calls.push_back({"1", name, "{" + key + ":" + value + ",\"n\":[" + value + "]}"});
    message.calls.push_back({"2", name, texts.next()});
  }
  message.prefix = texts.below(4) == 0;
  return message;
}

Conversation random_conversation(Texts& texts) {
  Conversation conversation;
  conversation.thinking = texts.below(2) == 0;
  const std::size_t count = 1 + texts.below(6);
  for (std::size_t i = 0; i < count; ++i) conversation.messages.push_back(random_message(texts));
  if (texts.below(2) == 0) {
    ToolDefinition definition = tool(texts.next());
    definition.description = texts.next();
    const std::string key = texts.quoted();
    definition.parameters = "{" + key + ":" + texts.quoted() + "}";
    conversation.tools.push_back(definition);
    conversation.messages.front().loaded_tools = {definition.name};
  }
  if (texts.below(3) == 0) {
    conversation.format = {FormatKind::kJsonSchema, "{" + texts.quoted() + ":1}"};
  }
  return conversation;
}

class ControlText : public testing::TestWithParam<ModelVersion> {};

TEST_P(ControlText, is_text_wherever_a_client_puts_it) {
  const auto encoding = tiny_encoding(GetParam());
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Texts hostile(seed, true);
    Texts harmless(seed, false);
    const auto bad = encoding->render(random_conversation(hostile)).value();
    const auto good = encoding->render(random_conversation(harmless)).value();
    EXPECT_EQ(specials_of(bad), specials_of(good)) << "seed " << seed << "\n" << bad.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, ControlText,
                         testing::Values(ModelVersion::kDeepseekV4, ModelVersion::kDeepseekV41));

TEST(ControlText, is_text_in_chatml) {
  const auto encoding = tiny_encoding(ModelVersion::kChatml);
  for (const char* spelling : kSpellings) {
    const auto prompt = encoding->render(talk({user(spelling), assistant(spelling)})).value();
    EXPECT_EQ(marked(prompt), "{start}user\n" + std::string(spelling) +
                                  "{end}\n{start}assistant\n" + spelling +
                                  "{end}\n{start}assistant\n");
  }
}

}  // namespace
}  // namespace troupe::recipe
