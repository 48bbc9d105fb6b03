// DeepSeek V4. Beside what deepseek_turns.hpp says:
//
//   head  = [effort] system texts, by blank lines [tools section] [format section]
//   turns = <User> tool results, then user messages, by blank lines | <latest_reminder> text
//           | assistant
//
// System messages are moved to the front, from wherever they are, and so do not part users; empty
// ones are left out, as are empty user messages beside others. Images are not seen: a text of the
// pack stands for each. Tools are all shown in the head, deferred ones too.
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/encoding/builders.hpp"
#include "runtime/recipe/encoding/deepseek_turns.hpp"

namespace troupe::recipe {
namespace {

constexpr Dialect kDialect{"tool_calls", "invoke", "parameter", "", kPromptJsonV4};

class V4Writer {
 public:
  V4Writer(const PromptPack& pack, const Conversation& conversation)
      : pack_(pack), conversation_(conversation), turns_(kDialect, pack, conversation) {}

  RenderedPrompt write() {
    write_head();
    for (const Message& message : conversation_.messages) write_message(message);
    turns_.write_generation();
    return turns_.out().take();
  }

 private:
  void write_head() {
    turns_.write_effort();
    bool any = false;
    for (const Message& message : conversation_.messages) {
      if (message.role != Role::kSystem || is_silent(message)) continue;
      if (std::exchange(any, true)) turns_.out().text(kBlankLine);
      write_parts(message);
    }
    std::vector<const ToolDefinition*> tools;
    for (const ToolDefinition& tool : conversation_.tools) tools.push_back(&tool);
    turns_.write_tools_section(tools);
    turns_.write_format();
  }

  void write_message(const Message& message) {
    switch (message.role) {
      case Role::kSystem:
        return;  // in the head
      case Role::kUser:
      case Role::kTool:
        return write_user(message);
      case Role::kLatestReminder:
        turn_ = Turn::kOther;
        turns_.out().special(kReminderToken);
        return write_parts(message);
      case Role::kAssistant:
        turn_ = Turn::kOther;
        return turns_.write_assistant(message);
    }
  }

  /// A user turn is results, then users: a result behind a user begins another one.
  void write_user(const Message& message) {
    const bool result = message.role == Role::kTool;
    if (turn_ == Turn::kOther || (result && turn_ == Turn::kUsers)) {
      turns_.out().special(kUserToken);
    } else if (turn_ == Turn::kResults) {
      turns_.out().text(kBlankLine);
    }
    if (result) {
      turn_ = Turn::kResults;
      turns_.out().text("<tool_result>");
      write_parts(message);
      turns_.out().text("</tool_result>");
      return;
    }
    if (turn_ != Turn::kUsers) silent_ = true;
    turn_ = Turn::kUsers;
    if (is_silent(message)) return;
    if (!std::exchange(silent_, false)) turns_.out().text(kBlankLine);
    write_parts(message);
  }

  void write_parts(const Message& message) {
    for (std::size_t i = 0; i < message.parts.size(); ++i) {
      if (i > 0) turns_.out().text(kBlankLine);
      const auto* text = std::get_if<std::string>(&message.parts[i]);
      turns_.out().text(text != nullptr ? *text : pack_.unsupported_image);
    }
  }

  enum class Turn : unsigned char { kOther, kResults, kUsers };

  const PromptPack& pack_;
  const Conversation& conversation_;
  DeepseekTurns turns_;
  Turn turn_ = Turn::kOther;
  bool silent_ = true;  // the users of this turn have said nothing so far
};

class V4 : public Encoding {
 public:
  explicit V4(std::shared_ptr<const PromptPack> pack) : pack_(std::move(pack)) {
    TROUPE_ASSERT(pack_ != nullptr, "V4 needs its boiler-plate");
  }

  Result<RenderedPrompt> render(const Conversation& conversation) const override {
    return V4Writer(*pack_, conversation).write();
  }

 private:
  std::shared_ptr<const PromptPack> pack_;
};

}  // namespace

std::shared_ptr<const Encoding> build_v4(std::shared_ptr<const PromptPack> pack) {
  return std::make_shared<V4>(std::move(pack));
}

}  // namespace troupe::recipe
