// DeepSeek V4.1. Beside what deepseek_turns.hpp says:
//
//   head   = <System> [effort] text [tools section] [format section] [updates]
//   turns  = <User> user messages and tool results, by blank lines | <latest_reminder> text
//            | <System> text [updates] | assistant
//   update = the pack's updated_tools_head, schema lines of the tools loaded from here
//
// The head is the first message if that is a system message, else a turn of its own if there is
// something to say in it. System messages stay where they are. Every user message counts, empty
// ones too; of reminders in a row the first counts (SPEC 4, a quirk that the model was trained on).
// Each image is one token, joined as a text would be. Deferred tools are shown where they load.
#include <string>
#include <unordered_map>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/encoding/builders.hpp"
#include "runtime/recipe/encoding/deepseek_turns.hpp"

namespace troupe::recipe {
namespace {

/// Far above any context: a million tokens are about 5 MB.
constexpr std::size_t kLoadedBytesMax = 64 << 20;

constexpr Dialect kDialectV41{" calls", " invoke", " parameter", "\n", kPromptJsonV41};

std::size_t schema_bytes(const ToolDefinition& tool) {
  return tool.parameters.size() + (tool.description ? tool.description->size() : 0);
}

class V41Writer {
 public:
  V41Writer(const PromptPack& pack, const Conversation& conversation)
      : pack_(pack), conversation_(conversation), turns_(kDialectV41, pack, conversation) {
    for (const ToolDefinition& tool : conversation.tools) by_name_.try_emplace(tool.name, &tool);
  }

  Result<RenderedPrompt> write() {
    if (loaded_bytes() > kLoadedBytesMax) {
      return Error{Code::kInvalid,
                   "the messages load tools so often that their schemas make more than " +
                       std::to_string(kLoadedBytesMax >> 20) +
                       " MiB of prompt; load each tool once"};
    }
    write_head();
    for (const Message& message : conversation_.messages) {
      write_message(message);
      previous_ = message.role;
    }
    turns_.write_generation();
    return turns_.out().take();
  }

 private:
  /// Of the schemas that the messages load. One message may name one tool many times.
  std::size_t loaded_bytes() const {
    std::size_t bytes = 0;
    for (const Message& message : conversation_.messages) {
      for (const std::string& name : message.loaded_tools) {
        const auto tool = by_name_.find(name);
        if (tool != by_name_.end()) bytes += schema_bytes(*tool->second);
      }
    }
    return bytes;
  }

  void write_head() {
    const auto& messages = conversation_.messages;
    const bool begins = !messages.empty() && messages.front().role == Role::kSystem;
    const Message* first = begins ? &messages.front() : nullptr;
    // Effort alone makes no head where there is nothing to think about.
    const bool effort = conversation_.thinking && !messages.empty();
    const bool sections = effort || turns_.has_tools() ||
                          conversation_.format.kind == FormatKind::kJsonObject ||
                          conversation_.format.kind == FormatKind::kJsonSchema;
    if (first == nullptr && !sections) return;
    turns_.out().special(kSystemToken);
    turns_.write_effort();
    if (first != nullptr) write_parts(*first);
    std::vector<const ToolDefinition*> tools;
    for (const ToolDefinition& tool : conversation_.tools) {
      if (!tool.deferred) tools.push_back(&tool);
    }
    turns_.write_tools_section(tools);
    turns_.write_format();
    if (first != nullptr) write_updates(*first);
  }

  void write_message(const Message& message) {
    switch (message.role) {
      case Role::kSystem:
        if (&message == &conversation_.messages.front()) return;  // the head
        turns_.out().special(kSystemToken);
        write_parts(message);
        return write_updates(message);
      case Role::kUser:
      case Role::kTool:
        return write_user(message);
      case Role::kLatestReminder:
        if (previous_ == Role::kLatestReminder) return;
        turns_.out().special(kReminderToken);
        return write_parts(message);
      case Role::kAssistant:
        return turns_.write_assistant(message);
    }
  }

  void write_user(const Message& message) {
    if (previous_ == Role::kUser || previous_ == Role::kTool) {
      turns_.out().text(kBlankLine);
    } else {
      turns_.out().special(kUserToken);
    }
    const bool result = message.role == Role::kTool;
    if (result) turns_.out().text("<tool_result>");
    write_parts(message);
    if (result) turns_.out().text("</tool_result>");
  }

  void write_parts(const Message& message) {
    for (std::size_t i = 0; i < message.parts.size(); ++i) {
      if (i > 0) turns_.out().text(kBlankLine);
      if (const auto* text = std::get_if<std::string>(&message.parts[i])) {
        turns_.out().text(*text);
      } else {
        turns_.out().image(kImageToken, std::get<ImageSource>(message.parts[i]));
      }
    }
  }

  void write_updates(const Message& message) {
    std::vector<const ToolDefinition*> tools;
    for (const std::string& name : message.loaded_tools) {
      const auto tool = by_name_.find(name);
      if (tool != by_name_.end()) tools.push_back(tool->second);
    }
    if (tools.empty()) return;
    turns_.out().text(pack_.updated_tools_head);
    turns_.write_schemas(tools);
  }

  const PromptPack& pack_;
  const Conversation& conversation_;
  DeepseekTurns turns_;
  std::unordered_map<std::string_view, const ToolDefinition*> by_name_;
  Role previous_ = Role::kSystem;
};

class V41 : public Encoding {
 public:
  explicit V41(std::shared_ptr<const PromptPack> pack) : pack_(std::move(pack)) {
    TROUPE_ASSERT(pack_ != nullptr, "V4.1 needs its boiler-plate");
  }

  Result<RenderedPrompt> render(const Conversation& conversation) const override {
    return V41Writer(*pack_, conversation).write();
  }

 private:
  std::shared_ptr<const PromptPack> pack_;
};

}  // namespace

std::shared_ptr<const Encoding> build_v41(std::shared_ptr<const PromptPack> pack) {
  return std::make_shared<V41>(std::move(pack));
}

}  // namespace troupe::recipe
