#include "runtime/recipe/request/conversion.hpp"

#include <algorithm>

#include "runtime/recipe/request/schema_validity.hpp"
#include "runtime/recipe/request/strict_schema.hpp"
#include "runtime/recipe/request/tools.hpp"

namespace troupe::recipe {
namespace {

std::optional<ModelVersion> version_of(std::string_view name, const ConversionOptions& options) {
  const auto exact = options.models.find(name);
  if (exact != options.models.end()) return exact->second;
  // The names that the reference accepts without configuration, SPEC section 1.
  if (name == "DeepSeek-V4-Pro") return ModelVersion::kDeepseekV4;
  if (name == "DeepSeek-V4.1-Flash") return ModelVersion::kDeepseekV41;
  for (const auto& [pattern, version] : options.models) {
    if (pattern.ends_with('*') && name.starts_with(pattern.substr(0, pattern.size() - 1))) {
      return version;
    }
  }
  return std::nullopt;
}

bool holds_json(std::string_view text) {
  constexpr std::string_view kWord = "json";
  const auto found = std::search(text.begin(), text.end(), kWord.begin(), kWord.end(),
                                 [](char a, char b) { return (a | 0x20) == b; });
  return found != text.end();
}

/// Where ids of calls carry the mark: behind "call_00_", or behind the prefix of a Messages id.
bool thought_nothing(const Message& message) {
  return std::any_of(message.calls.begin(), message.calls.end(), [](const ToolCall& call) {
    return call.id.compare(std::min<std::size_t>(6, call.id.size()), 2, "ET") == 0 ||
           call.id.compare(std::min<std::size_t>(8, call.id.size()), 3, "ET_") == 0;
  });
}

/// The reference puts the calls of a turn, and so their results, into the order of their ids: for
/// V4 and in Responses. Requires: results directly follow their calls.
void sort_calls_by_id(std::vector<Message>& messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::size_t count = messages[i].calls.size();
    if (count < 2) continue;
    auto& calls = messages[i].calls;
    std::sort(calls.begin(), calls.end(),
              [](const ToolCall& a, const ToolCall& b) { return a.id < b.id; });
    const auto first = messages.begin() + static_cast<std::ptrdiff_t>(i + 1);
    std::sort(first, first + static_cast<std::ptrdiff_t>(count),
              [](const Message& a, const Message& b) { return a.call_id < b.call_id; });
  }
}

/// The reference has no stage without thinking, so that it drops leading line ends there too.
InitialStage initial_stage(const Conversation& conversation, bool compat) {
  const Message* last = conversation.messages.empty() ? nullptr : &conversation.messages.back();
  const bool goes_on = last != nullptr && last->prefix;
  if (compat && !conversation.thinking) return InitialStage::kContent;
  if (goes_on && !is_empty_text(*last)) return InitialStage::kContentContinuation;
  if (!conversation.thinking) return InitialStage::kContent;
  const bool reasoned = goes_on && !last->reasoning.value_or("").empty();
  return reasoned ? InitialStage::kReasoningContinuation : InitialStage::kReasoning;
}

}  // namespace

const PromptPack* Conversion::pack() const {
  return is_v4() ? options.pack_v4.get() : options.pack_v41.get();
}

Part Conversion::image_part(ImageSource image) const {
  if (is_v4() && pack() != nullptr) return pack()->unsupported_image;
  return image;
}

const Message* Conversion::last_message() const {
  const auto& messages = request.conversation.messages;
  return messages.empty() ? nullptr : &messages.back();
}

bool read_model(const Field<std::string_view>& name, Conversion& conversion) {
  const ConversionOptions& options = conversion.options;
  const std::string_view wanted =
      name.given() ? name.value : std::string_view(options.default_model);
  if (wanted.empty() && !conversion.compat()) {
    return conversion.issues.rule("'model' is missing", "model");
  }
  const auto version = version_of(wanted, options);
  if (!version) return conversion.issues.unknown_model(wanted);
  conversion.request.model = wanted;
  conversion.request.version = *version;
  return true;
}

void set_thinking(const Thinking& thinking, bool must_call, Conversion& conversion) {
  // Models without a reasoning format answer at once, whatever was asked for.
  const bool able = conversion.compat() || conversion.version() != ModelVersion::kChatml;
  const bool gives_way = !conversion.compat() && must_call && !thinking.asked;
  Conversation& conversation = conversion.request.conversation;
  conversation.thinking = thinking.on && able && !gives_way;
  conversation.effort = thinking.effort;
  conversion.request.answer.thinking = conversation.thinking;
}

bool set_json_schema(JsonTape::Index schema, bool strict, Conversion& conversion) {
  std::string constraint;
  if (strict) {
    const auto why =
        print_strict_schema(conversion.tape, schema, SchemaUse::kResponseFormat, constraint);
    if (why) return conversion.issues.rule(*why, "response_format");
  } else if (const auto why = invalid_schema(conversion.tape, schema)) {
    return conversion.issues.rule("Invalid json schema: " + *why, "response_format");
  }
  // A strict schema is shown to the model as the client wrote it; the grammar gets the other one.
  Format& format = conversion.request.conversation.format;
  format.kind = FormatKind::kJsonSchema;
  conversion.tape.print(schema, kCompactJson, format.schema);
  conversion.request.sampling.constraint =
      OutputConstraint{"json", strict ? std::move(constraint) : format.schema};
  return true;
}

bool check_format_and_tools(bool format_given, Conversion& conversion) {
  if (!conversion.compat()) return true;
  const auto& tools = conversion.request.conversation.tools;
  const auto is_strict = [](const ToolDefinition& tool) { return tool.strict.value_or(false); };
  if (std::none_of(tools.begin(), tools.end(), is_strict)) return true;
  if (!std::all_of(tools.begin(), tools.end(), is_strict)) {
    return conversion.issues.rule(
        "Cannot use strict tool with non-strict tool in the same request");
  }
  return !format_given || conversion.issues.rule("response_format should not be used with tools");
}

bool says_json(const Conversation& conversation) {
  for (const Message& message : conversation.messages) {
    for (const Part& part : message.parts) {
      const auto* text = std::get_if<std::string>(&part);
      if (text != nullptr && holds_json(*text)) return true;
    }
  }
  return false;
}

bool is_empty_text(const Message& message) {
  return message.parts.empty() ||
         (message.parts.size() == 1 && std::holds_alternative<std::string>(message.parts[0]) &&
          std::get<std::string>(message.parts[0]).empty());
}

bool lacks_reasoning(const Conversation& conversation, bool has_tools) {
  if (!conversation.thinking) return false;
  const auto& messages = conversation.messages;
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    if (message->role == Role::kUser) return false;
    if (message->role != Role::kAssistant || message->reasoning) continue;
    if (message->calls.empty() ? has_tools : !thought_nothing(*message)) return true;
  }
  return false;
}

bool check_ordinary_model(Conversion& conversion) {
  if (conversion.compat() || conversion.version() != ModelVersion::kChatml) return true;
  struct Names {
    const char* format;
    const char* messages;
  };
  static constexpr Names kNames[] = {{"response_format.type", "messages"},
                                     {"text.format.type", "input"},
                                     {"output_config.format", "messages"}};
  const Names& names = kNames[static_cast<unsigned>(conversion.request.answer.protocol)];
  constexpr std::string_view kWhy = "this model's format has no way to say it";
  const Conversation& conversation = conversion.request.conversation;
  Issues& issues = conversion.issues;
  if (!conversation.tools.empty()) return issues.unsupported("tools", kWhy);
  if (conversation.format.kind != FormatKind::kText) return issues.unsupported(names.format, kWhy);
  for (const Message& message : conversation.messages) {
    const bool text = std::all_of(message.parts.begin(), message.parts.end(), [](const Part& part) {
      return std::holds_alternative<std::string>(part);
    });
    const bool known = message.role != Role::kTool && message.role != Role::kLatestReminder;
    if (known && text && message.calls.empty()) continue;
    return issues.unsupported(names.messages,
                              "this model takes text only, no images, tool calls or results");
  }
  return true;
}

void finish_parsing(Conversion& conversion) {
  ConversationRequest& request = conversion.request;
  Conversation& conversation = request.conversation;
  const bool responses = request.answer.protocol == Protocol::kResponses;
  if (conversion.compat() && (conversion.is_v4() || responses)) {
    sort_calls_by_id(conversation.messages);
  }
  request.parsing.compat = conversion.options.compat;
  request.parsing.tools = !conversation.tools.empty();
  request.parsing.starts_in_tools = conversation.tool_choice == ToolChoice::kRequired;
  const FormatKind format = conversation.format.kind;
  request.parsing.json = format == FormatKind::kJsonObject ||
                         (format == FormatKind::kJsonSchema && !conversion.compat());
  request.parsing.initial = initial_stage(conversation, conversion.compat());
  if (!conversation.tools.empty()) request.sampling.constraint = tool_constraint(conversation);
}

}  // namespace troupe::recipe
