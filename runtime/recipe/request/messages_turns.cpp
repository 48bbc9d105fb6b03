#include "runtime/recipe/request/messages_turns.hpp"

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "runtime/recipe/request/messages_content.hpp"

namespace troupe::recipe {
namespace {

class Turns {
 public:
  Turns(const ToolSet& tools, bool tools_refused, Conversion& conversion)
      : tools_(tools),
        loads_tools_(!tools_refused && !conversion.is_v4()),
        conversion_(conversion),
        issues_(conversion.issues),
        messages_(conversion.request.conversation.messages) {}

  bool run(const List<MessagesMessage>& messages) {
    if (messages.empty()) {
      return issues_.rule("messages: at least one message is required", "messages");
    }
    for (at_ = 0; at_ < messages.size(); ++at_) {
      if (!add(messages[at_].value)) return false;
    }
    return unanswered_ == 0 || too_few_results();
  }

 private:
  struct Call {
    std::size_t position;  // among the calls of its message
    bool answered = false;
  };

  std::string path() const { return "messages." + std::to_string(at_); }
  std::string block_path(std::size_t block) const {
    return path() + ".content." + std::to_string(block);
  }
  /// The same as a parameter: "messages[0].content[1]".
  std::string param(std::size_t block) const {
    return "messages[" + std::to_string(at_) + "].content[" + std::to_string(block) + "]";
  }
  MessagesPlace place(std::size_t block) const {
    std::string text = path() + ".content[" + std::to_string(block) + "]";
    return {text, text};
  }

  bool add(const MessagesMessage& body) {
    const std::string_view role = body.role.value;
    const auto& content = body.content.value;
    if (role != "system" && content.is_container && content.container.empty()) {
      return issues_.rule(path() + ": all messages must have non-empty content", path());
    }
    if (role != "user" && unanswered_ > 0) return unanswered(path() + ": ");
    if (content.is_container && !check_roles(role, content.container)) return false;
    if (role == "assistant") return add_assistant(body);
    return role == "user" ? add_user(body) : add_system(body);
  }

  /// Which blocks a role may have.
  bool check_roles(std::string_view role, const List<MessagesBlock>& blocks) {
    for (const auto& block : blocks) {
      const std::string_view type = block.value.type.value;
      std::string_view only;
      std::string_view shown = type;
      if (type == "tool_use" || type == "server_tool_use") only = "assistant", shown = "tool_use";
      if (type == "web_search_tool_result") only = "assistant";
      if (type == "tool_result") only = "user";
      if (type == "tool_addition") only = "system";
      if (type == "thinking" || type == "redacted_thinking") only = "assistant";
      if (only.empty() || only == role) continue;
      if (type.ends_with("thinking")) {
        return issues_.rule(
            path() + ".content: thinking blocks may only be in `assistant` messages", path());
      }
      return issues_.rule(path() + ": `" + std::string(shown) + "` blocks can only be in `" +
                              std::string(only) + "` messages",
                          path());
    }
    return true;
  }

  bool unanswered(const std::string& prefix) {
    return unanswered_error(prefix, messages_[first_result_ - 1].calls);
  }

  /// No space behind the colon, as in the reference.
  bool too_few_results() { return unanswered("messages." + std::to_string(caller_at_) + ":"); }

  bool unanswered_error(const std::string& prefix, const std::vector<ToolCall>& calls) {
    std::set<std::string_view> ids;  // shown in order of their bytes
    for (const ToolCall& call : calls) {
      if (!calls_.at(std::string_view(call.id)).answered) ids.insert(call.id);
    }
    std::string shown;
    for (const std::string_view id : ids) shown.append(shown.empty() ? "" : ", ").append(id);
    return issues_.rule(
        prefix +
            "`tool_use` ids were found without `tool_result` blocks immediately after: " + shown +
            ". Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message.",
        "messages");
  }

  bool add_assistant(const MessagesMessage& body) {
    Message message;
    message.role = Role::kAssistant;
    calls_.clear();
    const auto& content = body.content.value;
    if (!content.is_container) message.parts.emplace_back(std::string(content.scalar));
    for (std::size_t i = 0; i < content.container.size(); ++i) {
      if (!add_assistant_block(content.container[i].value, i, message)) return false;
    }
    unanswered_ = message.calls.size();
    caller_at_ = at_;
    messages_.push_back(std::move(message));
    first_result_ = messages_.size();
    messages_.resize(first_result_ + unanswered_);  // the places of the results
    return true;
  }

  bool add_assistant_block(const MessagesBlock& block, std::size_t index, Message& message) {
    const std::string_view type = block.type.value;
    if (type == "redacted_thinking") return true;  // default mode: nothing of it can be shown
    if (type == "thinking") {
      if (message.reasoning) {
        message.reasoning->append("\n\n").append(block.thinking.value);
      } else {
        message.reasoning = block.thinking.value;
      }
      return true;
    }
    if (type == "tool_use") return add_call(block, index, message);
    if (type == "server_tool_use" || type == "web_search_tool_result") {
      return issues_.rule("Unsupported content block: server tools are not supported",
                          param(index));
    }
    if (!message.calls.empty()) {
      return unanswered_error(path() + "." + std::to_string(index) + ": ", message.calls);
    }
    return read_block(block, index, message.role, message.parts);
  }

  bool add_call(const MessagesBlock& block, std::size_t index, Message& message) {
    if (!calls_.try_emplace(block.id.value, Call{message.calls.size()}).second) {
      return issues_.rule(block_path(index) + ": `tool_use` ids must be unique", param(index));
    }
    ToolCall call{std::string(block.id.value), std::string(block.name.value), {}};
    // Spaced: it shows in prompts where the input is no object (SPEC 4, "argument values").
    conversion_.tape.print(block.input.value.index, kPromptJsonV4, call.arguments);
    message.calls.push_back(std::move(call));
    return true;
  }

  bool add_user(const MessagesMessage& body) {
    const auto& content = body.content.value;
    if (unanswered_ == 0 && answered_at_ != at_) calls_.clear();
    if (!content.is_container) {
      if (unanswered_ > 0) return unanswered(path() + ": ");
      return add_parts(Role::kUser, {std::string(content.scalar)}), true;
    }
    Message loaded;
    for (std::size_t i = 0; i < content.container.size(); ++i) {
      const MessagesBlock& block = content.container[i].value;
      if (block.type.value == "tool_result") {
        if (!add_result(block, i, loaded)) return false;
        continue;
      }
      if (unanswered_ > 0) return unanswered(path() + ": ");
      std::vector<Part> parts;
      if (!read_block(block, i, Role::kUser, parts)) return false;
      add_parts(Role::kUser, std::move(parts));
    }
    if (unanswered_ > 0) return too_few_results();
    if (loaded.loaded_tools.empty() || !loads_tools_) return true;
    loaded.role = Role::kSystem;
    messages_.push_back(std::move(loaded));
    return true;
  }

  void add_parts(Role role, std::vector<Part> parts) {
    Message& message = messages_.emplace_back();
    message.role = role;
    message.parts = std::move(parts);
  }

  bool add_result(const MessagesBlock& block, std::size_t index, Message& loaded) {
    const std::string id(block.tool_use_id.value);
    const auto call = calls_.find(block.tool_use_id.value);
    if (call == calls_.end()) {
      return issues_.rule("unexpected `" + block_path(index) +
                              ": tool_use_id` found in `tool_result` blocks: " + id +
                              ". Each `tool_result` block must have a corresponding `tool_use` "
                              "block in the previous message.",
                          param(index));
    }
    if (std::exchange(call->second.answered, true)) {
      return issues_.rule(block_path(index) +
                              ": each tool_use must have a single result. Found multiple "
                              "`tool_result` blocks with id: " +
                              id,
                          param(index));
    }
    Message message;
    message.role = Role::kTool;
    message.call_id = id;
    if (!read_result(block, index, message, loaded)) return false;
    messages_[first_result_ + call->second.position] = std::move(message);
    --unanswered_;
    answered_at_ = at_;
    return true;
  }

  bool read_result(const MessagesBlock& block, std::size_t index, Message& message,
                   Message& loaded) {
    const auto& content = block.content.value;
    if (!content.is_container) message.parts.emplace_back(std::string(content.scalar));
    const std::string within = block_path(index) + ".tool_result";
    for (std::size_t i = 0; i < content.container.size(); ++i) {
      const MessagesInnerBlock& inner = content.container[i].value;
      const std::string_view type = inner.type.value;
      const MessagesPlace place{within + ".content[" + std::to_string(i) + "]", within};
      bool right = true;
      if (type == "text") {
        message.parts.emplace_back(std::in_place_type<std::string>, inner.text.value);
      } else if (type == "image") {
        right =
            read_messages_image(inner.source.value, place, Role::kTool, conversion_, message.parts);
      } else if (type == "document") {
        right =
            read_messages_document(inner.source.value, param(index), conversion_, message.parts);
      } else {
        right = load(inner.tool_name.value, index, message, loaded);
      }
      if (!right) return false;
    }
    return true;
  }

  /// A reference shows the tool's name, and the tool itself behind the message.
  bool load(std::string_view name, std::size_t index, Message& message, Message& loaded) {
    if (!tools_.has(std::string(name))) {
      return issues_.rule(block_path(index) + ": tool reference '" + std::string(name) +
                              "' not found in available tools",
                          param(index));
    }
    message.parts.emplace_back(std::in_place_type<std::string>, name);
    show(name, loaded);
    return true;
  }

  bool add_system(const MessagesMessage& body) {
    Message message;
    message.role = Role::kSystem;
    const auto& content = body.content.value;
    if (!content.is_container) message.parts.emplace_back(std::string(content.scalar));
    bool adds = false;
    for (std::size_t i = 0; i < content.container.size(); ++i) {
      const MessagesBlock& block = content.container[i].value;
      const std::string_view type = block.type.value;
      if (type == "tool_addition") {
        if (!add_tool(block, i, message)) return false;
        adds = true;
      } else if (type == "image") {
        const MessagesPlace place{path() + ".content[" + std::to_string(i) + "]", path()};
        if (!read_messages_image(block.source.value, place, Role::kSystem, conversion_,
                                 message.parts)) {
          return false;
        }
      } else if (!read_block(block, i, Role::kSystem, message.parts)) {
        return false;
      }
    }
    if (conversion_.is_v4()) return add_wrapped(std::move(message));
    if (!loads_tools_) message.loaded_tools.clear();
    const bool silent = is_empty_text(message) && message.loaded_tools.empty();
    if (!adds || !silent) messages_.push_back(std::move(message));
    return true;
  }

  bool add_tool(const MessagesBlock& block, std::size_t index, Message& message) {
    const std::string_view name = block.tool.value.name.value;
    if (!tools_.has(std::string(name))) {
      return issues_.rule(block_path(index) + ": `tool_addition` references unknown tool '" +
                              std::string(name) + "'",
                          param(index));
    }
    show(name, message);
    return true;
  }

  /// The reference shows a tool at each of its references, the default mode once.
  void show(std::string_view name, Message& from) {
    if (conversion_.compat() || shown_.insert(name).second) from.loaded_tools.emplace_back(name);
  }

  /// V4 has system texts in front only: later ones become a user's, between two texts of the pack.
  bool add_wrapped(Message message) {
    if (is_empty_text(message)) return true;
    const PromptPack* pack = conversion_.pack();
    if (pack == nullptr) {
      return issues_.unsupported("messages[" + std::to_string(at_) + "].role",
                                 "system messages here need the prompt pack of the model");
    }
    std::string text = pack->mid_system_begin;
    for (std::size_t i = 0; i < message.parts.size(); ++i) {
      const auto* part = std::get_if<std::string>(&message.parts[i]);
      text.append(i > 0 ? "\n\n" : "").append(part != nullptr ? *part : pack->unsupported_image);
    }
    add_parts(Role::kUser, {text + pack->mid_system_end});
    return true;
  }

  /// A text, an image or a document.
  bool read_block(const MessagesBlock& block, std::size_t index, Role role,
                  std::vector<Part>& parts) {
    const std::string_view type = block.type.value;
    if (type == "image") {
      return read_messages_image(block.source.value, place(index), role, conversion_, parts);
    }
    if (type == "document") {
      return read_messages_document(block.source.value, param(index), conversion_, parts);
    }
    parts.emplace_back(std::in_place_type<std::string>, block.text.value);
    return true;
  }

  const ToolSet& tools_;
  const bool loads_tools_;
  Conversion& conversion_;
  Issues& issues_;
  std::vector<Message>& messages_;
  std::size_t at_ = 0;

  std::unordered_map<std::string_view, Call> calls_;  // of the last assistant message, by id
  std::unordered_set<std::string_view> shown_;        // tools that a message has loaded
  std::size_t unanswered_ = 0;
  std::size_t caller_at_ = 0;     // where that message is
  std::size_t answered_at_ = 0;   // the message that answered last
  std::size_t first_result_ = 0;  // where the results go
};

}  // namespace

bool convert_messages_turns(const List<MessagesMessage>& messages, const ToolSet& tools,
                            bool tools_refused, Conversion& conversion) {
  return Turns(tools, tools_refused, conversion).run(messages);
}

}  // namespace troupe::recipe
