#include "runtime/recipe/request/responses_items.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "runtime/recipe/request/images.hpp"
#include "runtime/recipe/request/responses_order.hpp"

namespace troupe::recipe {
namespace {

enum class ItemKind : unsigned char {
  kMessage,
  kReasoning,
  kCall,
  kOutput,
  kSearchCall,
  kSearchOutput,
  kWebSearch,
  kIgnored,
};

ItemKind kind_of(const ResponsesItem& item, bool searches) {
  if (item.type.presence == Presence::kAbsent) return ItemKind::kMessage;
  const std::string_view type = item.type.value;
  if (type == "message") return ItemKind::kMessage;
  if (type == "reasoning") return ItemKind::kReasoning;
  if (type == "function_call" || type == "custom_tool_call") return ItemKind::kCall;
  if (type == "function_call_output" || type == "custom_tool_call_output") return ItemKind::kOutput;
  if (type == "web_search_call") return ItemKind::kWebSearch;
  if (searches && type == "tool_search_call") return ItemKind::kSearchCall;
  if (searches && type == "tool_search_output") return ItemKind::kSearchOutput;
  return ItemKind::kIgnored;
}

class Items {
 public:
  Items(bool tools_refused, ResponsesTools& tools, Conversion& conversion)
      : tools_refused_(tools_refused),
        tools_(tools),
        conversion_(conversion),
        issues_(conversion.issues),
        messages_(conversion.request.conversation.messages) {}

  bool run(const List<ResponsesItem>& items) {
    if (conversion_.compat()) {
      for (at_ = 0; at_ < items.size(); ++at_) {
        if (!add(items[at_].value)) return false;
      }
    } else {
      for (const std::size_t position : reading_order(items)) {
        at_ = position;
        if (!add(items[at_].value)) return false;
      }
    }
    if (unanswered_ > 0) return no_output();
    end_turn();
    return true;
  }

 private:
  struct Call {
    std::size_t position;  // among the calls of its group
    std::size_t group;
    bool answered = false;
  };

  std::string path() const { return "input[" + std::to_string(at_) + "]"; }

  bool add(const ResponsesItem& item) {
    const ItemKind kind = kind_of(item, !conversion_.is_v4());
    if (kind == ItemKind::kIgnored) return ignore(item.type.value);
    const bool output =
        kind == ItemKind::kSearchOutput || (kind == ItemKind::kOutput && item.call_id.given());
    const bool call = kind == ItemKind::kCall || kind == ItemKind::kSearchCall;
    if (unanswered_ > 0 && !output && !call) return no_output();
    switch (kind) {
      case ItemKind::kMessage:
        return add_message(item);
      case ItemKind::kReasoning:
        add_reasoning(item);
        return true;
      case ItemKind::kCall:
      case ItemKind::kSearchCall:
        return add_call(item, kind == ItemKind::kSearchCall);
      case ItemKind::kOutput:
      case ItemKind::kSearchOutput:
        return add_output(item, kind == ItemKind::kSearchOutput);
      default:
        return true;  // a web search leaves nothing
    }
  }

  /// What tools of other servers did leaves nothing; anything else might say something.
  bool ignore(std::string_view type) {
    if (conversion_.compat() || type.ends_with("_call") || type.ends_with("_output")) return true;
    return issues_.unsupported(path() + ".type", "leave the item out");
  }

  bool add_message(const ResponsesItem& item) {
    const std::string_view role = item.role.value;
    Message message;
    message.role = Role::kUser;
    if (role == "assistant") {
      message.role = Role::kAssistant;
    } else if (role == "system" || (role == "developer" && !conversion_.is_v4())) {
      message.role = Role::kSystem;
    }
    if (!read_content(item.content, "content", message)) return false;
    if (message.role == Role::kAssistant) {
      Message& turn = open_turn();
      if (is_empty_text(message)) return true;
      for (Part& part : message.parts) turn.parts.push_back(std::move(part));
      return true;
    }
    end_turn();
    messages_.push_back(std::move(message));
    return true;
  }

  void add_reasoning(const ResponsesItem& item) {
    std::string text;
    bool any = false;
    for (const auto& part : item.content.value.container) {
      if (std::exchange(any, true)) text += '\n';
      text += part.value.text.value;
    }
    if (text.empty()) return;
    if (in_turn_ && (!turn_.parts.empty() || !turn_.calls.empty())) end_turn();
    Message& turn = open_turn();
    if (turn.reasoning) {
      turn.reasoning->append("\n").append(text);
    } else {
      turn.reasoning = std::move(text);
    }
  }

  bool add_call(const ResponsesItem& item, bool search) {
    const std::string_view id = item.call_id.value;
    if (id.empty()) return empty_id();
    Message& turn = answering_ ? messages_[first_answer_ - 1] : open_turn();
    if (!calls_.try_emplace(id, Call{turn.calls.size(), group_}).second) {
      return issues_.rule("Duplicate 'call_id': " + std::string(id) + ".", path() + ".call_id");
    }
    ToolCall call;
    call.id = id;
    if (search) {
      call.name = "tool_search";
      conversion_.tape.print(item.arguments.value.index, kCompactJson, call.arguments);
    } else if (item.type.value == "custom_tool_call") {
      call.name = item.name.value;
      call.arguments = "{\"input\":";
      append_json_string(call.arguments, item.input.value);
      call.arguments += '}';
    } else {
      call.name = item.space.given() ? tools_.flat_name(item.space.value, item.name.value)
                                     : std::string(item.name.value);
      call.arguments = conversion_.tape.text(item.arguments.value.index);
    }
    turn.calls.push_back(std::move(call));
    if (answering_) messages_.emplace_back();  // a call between the outputs belongs to its group
    ++unanswered_;
    return true;
  }

  bool add_output(const ResponsesItem& item, bool search) {
    Message message;
    message.role = Role::kTool;
    if (!item.call_id.given()) {  // the reference takes it as it stands
      end_turn();
      if (!read_content(item.output, "output", message)) return false;
      messages_.push_back(std::move(message));
      return true;
    }
    const std::string_view id = item.call_id.value;
    if (id.empty()) return empty_id();
    const auto call = calls_.find(id);
    if (call != calls_.end() && call->second.answered) {
      return issues_.rule("Duplicate tool output for call_id: " + std::string(id) + ".",
                          path() + ".call_id");
    }
    if (call == calls_.end() || call->second.group != group_) {
      return issues_.rule(
          "No tool call found for tool output with call_id " + std::string(id) + ".",
          path() + ".call_id");
    }
    if (!std::exchange(answering_, true)) begin_answers();
    call->second.answered = true;
    message.call_id = id;
    if (search ? !read_search(item, message) : !read_content(item.output, "output", message))
      return false;
    messages_[first_answer_ + call->second.position] = std::move(message);
    if (--unanswered_ == 0) end_answers();
    return true;
  }

  bool read_search(const ResponsesItem& item, Message& message) {
    std::string found = "[";
    for (const auto& tool : item.tools.value) {
      if (!is_known_tool(tool.value.type.value)) {
        return issues_.rule(
            path() + ": the enum variant ResponsesTool::Unsupported cannot be serialized", path());
      }
      append_found(tool.value, found);
    }
    message.parts.emplace_back(found + "]");
    if (tools_refused_) return true;
    Message loaded;
    loaded.role = Role::kSystem;
    if (!tools_.load(item.tools.value, path() + ".tools", loaded.loaded_tools)) return false;
    if (!loaded.loaded_tools.empty()) loaded_.push_back(std::move(loaded));
    return true;
  }

  /// What a search found is shown tool by tool, each with its namespace.
  void append_found(const ResponsesTool& tool, std::string& out) {
    if (tool.type.value != "namespace") {
      if (out.back() != '[') out += ',';
      return append_tool_json(tool, conversion_.tape, out);
    }
    std::string space = ",\"namespace\":{\"name\":";
    append_json_string(space, tool.name.value);
    space += ",\"description\":";
    append_json_string(space, tool.description.value);
    space += '}';
    for (const auto& inner : tool.tools.value) {
      if (out.back() != '[') out += ',';
      append_function_json(inner.value, conversion_.tape, space, out);
    }
  }

  /// `name` of the field: "content" or "output".
  bool read_content(const Field<ResponsesContent>& field, std::string_view name, Message& message) {
    const ResponsesContent& content = field.value;
    if (!content.is_container) {
      message.parts.emplace_back(std::in_place_type<std::string>, content.scalar);
      return true;
    }
    message.parts.reserve(content.container.size());
    for (std::size_t i = 0; i < content.container.size(); ++i) {
      if (!read_part(content.container[i].value, part_path(name, i), message)) return false;
    }
    return true;
  }

  std::string part_path(std::string_view name, std::size_t index) const {
    return path() + "." + std::string(name) + "[" + std::to_string(index) + "]";
  }

  bool read_part(const ResponsesPart& part, const std::string& at, Message& message) {
    const std::string_view type = part.type.value;
    if (type == "input_image") return read_image(part, at, message);
    if (type == "input_file") {
      const PromptPack* pack = conversion_.pack();
      if (pack == nullptr || !conversion_.compat()) {
        return issues_.unsupported(at, "this server reads no files");
      }
      message.parts.emplace_back(pack->unsupported_document);
      return true;
    }
    message.parts.emplace_back(std::in_place_type<std::string>,
                               type == "refusal" ? part.refusal.value : part.text.value);
    return true;
  }

  bool read_image(const ResponsesPart& part, const std::string& at, Message& message) {
    if (!conversion_.is_v4()) {
      if (part.image_url.given() && part.file_id.given()) {
        return issues_.rule(at + ": input_image cannot have both image_url and file_id", at);
      }
      if (part.file_id.given()) {
        return issues_.rule(
            at + ": file_id is not supported. Pass the image as a base64 data url instead.", at);
      }
      if (!part.image_url.given()) {
        return issues_.rule(at + ": input_image must have image_url or file_id", at);
      }
    }
    if (message.role == Role::kAssistant && !conversion_.is_v4()) {
      return issues_.rule(path() + ": Image in assistant message is unsupported", at);
    }
    ImageSource image;
    if (!read_image_url(part.image_url.value, part.detail.value, path(),
                        {"Unsupported image_url format"}, conversion_.version(), issues_, image)) {
      return false;
    }
    message.parts.push_back(conversion_.image_part(std::move(image)));
    return true;
  }

  bool empty_id() {
    const std::string at = path() + ".call_id";
    return issues_.rule("Invalid '" + at +
                            "': empty string. Expected a string with minimum length 1, but got an "
                            "empty string instead.",
                        at);
  }

  bool no_output() {
    const auto& calls = answering_ ? messages_[first_answer_ - 1].calls : turn_.calls;
    const auto missing = std::find_if(calls.begin(), calls.end(), [&](const ToolCall& call) {
      return !calls_.find(std::string_view(call.id))->second.answered;
    });
    return issues_.rule("No tool output found for tool call " + missing->id + ".", "input");
  }

  Message& open_turn() {
    if (!std::exchange(in_turn_, true)) {
      turn_ = {};
      turn_.role = Role::kAssistant;
    }
    return turn_;
  }

  void end_turn() {
    if (std::exchange(in_turn_, false)) messages_.push_back(std::move(turn_));
  }

  void begin_group() {
    answering_ = false;
    ++group_;
  }

  void begin_answers() {
    end_turn();
    first_answer_ = messages_.size();
    messages_.resize(messages_.size() + unanswered_);  // their places
  }

  void end_answers() {
    for (Message& message : loaded_) messages_.push_back(std::move(message));
    loaded_.clear();
    begin_group();
  }

  const bool tools_refused_;
  ResponsesTools& tools_;
  Conversion& conversion_;
  Issues& issues_;
  std::vector<Message>& messages_;
  std::size_t at_ = 0;

  Message turn_;  // of the assistant, being put together
  bool in_turn_ = false;
  std::unordered_map<std::string_view, Call> calls_;  // all so far, by id
  std::size_t group_ = 0;
  std::size_t unanswered_ = 0;    // calls of the last group
  bool answering_ = false;        // outputs of the last group have begun
  std::size_t first_answer_ = 0;  // where they go
  std::vector<Message> loaded_;   // what its searches found; follows all outputs
};

}  // namespace

bool convert_responses_items(const List<ResponsesItem>& items, bool tools_refused,
                             ResponsesTools& tools, Conversion& conversion) {
  return Items(tools_refused, tools, conversion).run(items);
}

}  // namespace troupe::recipe
