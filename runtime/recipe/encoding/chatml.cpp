// ChatML: <|im_start|>ROLE\nTEXT<|im_end|>\n for each message, then <|im_start|>assistant\n.
//
// SmolLM2, Qwen and others use it. Their templates differ in what they say when the conversation
// does not begin with a system message: some insert a default one. It has no tools, no images and
// no reasoning; what a conversation says about thinking, effort and format is left out.
#include <string_view>
#include <utility>

#include "runtime/recipe/encoding/builders.hpp"
#include "runtime/recipe/encoding/prompt_writer.hpp"

namespace troupe::recipe {
namespace {

constexpr std::string_view kStart = "<|im_start|>";
constexpr std::string_view kEnd = "<|im_end|>";

/// Empty for a role that the format does not have.
std::string_view role_name(Role role) {
  switch (role) {
    case Role::kSystem:
      return "system";
    case Role::kUser:
      return "user";
    case Role::kAssistant:
      return "assistant";
    case Role::kTool:
    case Role::kLatestReminder:
      return "";
  }
  return "";
}

Error unsupported(std::string_view what) {
  return {Code::kUnsupported, "this model's prompt format has no " + std::string(what)};
}

Status check(const Conversation& conversation) {
  if (conversation.messages.empty()) {
    return Error{Code::kInvalid, "a conversation needs at least one message"};
  }
  if (!conversation.tools.empty() && conversation.tool_choice != ToolChoice::kNone) {
    return unsupported("tools");
  }
  for (const Message& message : conversation.messages) {
    if (role_name(message.role).empty()) return unsupported("tool results or reminders");
    if (!message.calls.empty()) return unsupported("tool calls");
    for (const Part& part : message.parts) {
      if (std::holds_alternative<ImageSource>(part)) return unsupported("images");
    }
  }
  return ok_status();
}

class Chatml : public Encoding {
 public:
  explicit Chatml(std::string default_system) : default_system_(std::move(default_system)) {}

  Result<RenderedPrompt> render(const Conversation& conversation) const override {
    TROUPE_TRY(check(conversation));
    PromptWriter out(expected_bytes(conversation));
    const auto& messages = conversation.messages;
    if (messages.front().role != Role::kSystem && !default_system_.empty()) {
      out.special(kStart).text("system\n").text(default_system_).special(kEnd).text("\n");
    }
    for (const Message& message : messages) {
      out.special(kStart).text(role_name(message.role)).text("\n");
      for (std::size_t i = 0; i < message.parts.size(); ++i) {
        out.text(i == 0 ? "" : "\n\n").text(std::get<std::string>(message.parts[i]));
      }
      if (message.prefix && &message == &messages.back()) return out.take();
      out.special(kEnd).text("\n");
    }
    out.special(kStart).text("assistant\n");
    return out.take();
  }

 private:
  std::string default_system_;
};

}  // namespace

std::shared_ptr<const Encoding> build_chatml(std::string default_system) {
  return std::make_shared<Chatml>(std::move(default_system));
}

}  // namespace troupe::recipe
