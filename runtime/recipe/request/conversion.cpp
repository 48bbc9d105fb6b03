#include "runtime/recipe/request/conversion.hpp"

#include <algorithm>

#include "runtime/recipe/request/schema_validity.hpp"
#include "runtime/recipe/request/strict_schema.hpp"
#include "runtime/recipe/request/tools.hpp"

namespace troupe::recipe {
namespace {

std::optional<ModelVersion> version_of(std::string_view name, const ConversionOptions& options) {
  // The names that the reference accepts without configuration, SPEC section 1.
  if (name == "DeepSeek-V4-Pro") return ModelVersion::kDeepseekV4;
  if (name == "DeepSeek-V4.1-Flash") return ModelVersion::kDeepseekV41;
  const auto exact = options.models.find(name);
  if (exact != options.models.end()) return exact->second;
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

void set_thinking(const Thinking& thinking, Conversion& conversion) {
  // Models without a reasoning format answer at once, whatever was asked for.
  const bool able = conversion.compat() || conversion.version() != ModelVersion::kChatml;
  conversion.request.conversation.thinking = thinking.on && able;
  conversion.request.conversation.effort = thinking.effort;
  conversion.request.answer.thinking = thinking.on && able;
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
  if (!format_given || !conversion.compat()) return true;
  const auto& tools = conversion.request.conversation.tools;
  return std::none_of(tools.begin(), tools.end(),
                      [](const ToolDefinition& tool) { return tool.strict.value_or(false); }) ||
         conversion.issues.rule("response_format should not be used with tools");
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

bool lacks_reasoning(const Conversation& conversation, bool has_tools, bool tools_refused) {
  if (!conversation.thinking || tools_refused) return false;
  const auto& messages = conversation.messages;
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    if (message->role == Role::kUser) return false;
    if (message->role != Role::kAssistant || message->reasoning) continue;
    if (message->calls.empty() ? has_tools : !thought_nothing(*message)) return true;
  }
  return false;
}

void finish_parsing(Conversion& conversion) {
  ConversationRequest& request = conversion.request;
  const Conversation& conversation = request.conversation;
  request.parsing.compat = conversion.options.compat;
  request.parsing.tools = !conversation.tools.empty();
  request.parsing.starts_in_tools = conversation.tool_choice == ToolChoice::kRequired;
  request.parsing.json = conversation.format.kind == FormatKind::kJsonObject;
  request.parsing.initial = initial_stage(conversation, conversion.compat());
  if (!conversation.tools.empty()) request.sampling.constraint = tool_constraint(conversation);
}

}  // namespace troupe::recipe
