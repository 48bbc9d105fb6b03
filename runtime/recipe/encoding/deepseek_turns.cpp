#include "runtime/recipe/encoding/deepseek_turns.hpp"

#include "runtime/recipe/text/json_reprint.hpp"

namespace troupe::recipe {
namespace {

const PackText& effort_text(const PromptPack& pack, Effort effort) {
  switch (effort) {
    case Effort::kLow:
      return pack.effort_low;
    case Effort::kHigh:
    case Effort::kXhigh:  // SPEC 3.1: renders as high
      return pack.effort_high;
    case Effort::kMax:
      return pack.effort_max;
  }
  return pack.effort_high;
}

/// True if the conversation ends in a turn that the model is to go on with.
bool is_continued(const Conversation& conversation) {
  return !conversation.messages.empty() && conversation.messages.back().prefix &&
         conversation.messages.back().role == Role::kAssistant;
}

}  // namespace

bool is_silent(const Message& message) {
  if (message.parts.size() > 1) return false;  // there is a blank line at least
  if (message.parts.empty()) return true;
  const auto* text = std::get_if<std::string>(&message.parts.front());
  return text != nullptr && text->empty();
}

DeepseekTurns::DeepseekTurns(const Dialect& dialect, const PromptPack& pack,
                             const Conversation& conversation)
    : dialect_(dialect),
      pack_(pack),
      conversation_(conversation),
      has_tools_(!conversation.tools.empty() && conversation.tool_choice != ToolChoice::kNone),
      out_(expected_bytes(conversation)) {
  out_.special(kBosToken);
}

void DeepseekTurns::write_effort() {
  if (conversation_.thinking) out_.pack(effort_text(pack_, conversation_.effort));
}

void DeepseekTurns::write_schema(const ToolDefinition& tool) {
  std::string& text = out_.end();
  text += "{\"name\": ";
  append_json_string(text, tool.name);
  text += ", \"description\": ";
  append_json_string(text, tool.description ? *tool.description : std::string_view());
  text += ", \"parameters\": ";
  // Request parsers let only valid JSON pass; other callers get to see what they gave.
  if (!reprint_json(tool.parameters, dialect_.json, text)) text += tool.parameters;
  text += '}';
}

void DeepseekTurns::write_schemas(const std::vector<const ToolDefinition*>& tools) {
  for (std::size_t i = 0; i < tools.size(); ++i) {
    if (i > 0) out_.pack(pack_.tools_sep);
    write_schema(*tools[i]);
  }
}

void DeepseekTurns::write_tools_section(const std::vector<const ToolDefinition*>& tools) {
  if (!has_tools_) return;
  out_.pack(pack_.tools_head);
  write_schemas(tools);
  out_.pack(pack_.tools_tail);
}

void DeepseekTurns::write_format() {
  const Format& format = conversation_.format;
  if (format.kind == FormatKind::kJsonObject) out_.pack(pack_.json_object);
  if (format.kind != FormatKind::kJsonSchema) return;
  out_.pack(pack_.json_schema_head);
  if (!reprint_json(format.schema, dialect_.json, out_.end())) out_.text(format.schema);
}

void DeepseekTurns::write_reasoning(const Message& message, bool open) {
  const std::string_view reasoning = message.reasoning ? *message.reasoning : std::string_view();
  // SPEC 4: the reasoning of past turns is of use only where it explains tool calls.
  const bool shown = conversation_.thinking && (has_tools_ || open);
  if (shown) out_.special(kThinkToken).text(reasoning);
  if (open && conversation_.thinking && is_silent(message)) return;
  out_.special(kThinkEndToken);
}

void DeepseekTurns::write_assistant(const Message& message) {
  const bool open = &message == &conversation_.messages.back() && message.prefix;
  out_.special(kAssistantToken);
  write_reasoning(message, open);
  for (std::size_t i = 0; i < message.parts.size(); ++i) {
    if (i > 0) out_.text(kBlankLine);
    if (const auto* text = std::get_if<std::string>(&message.parts[i])) out_.text(*text);
  }
  if (!message.calls.empty()) write_calls(message.calls);
  if (!open) out_.special(kEosToken);
}

void DeepseekTurns::write_calls(const std::vector<ToolCall>& calls) {
  out_.text("\n\n<").special(kDsmlToken).text(dialect_.calls).text(">\n");
  for (const ToolCall& call : calls) {
    out_.text("<").special(kDsmlToken).text(dialect_.invoke).text(" name=\"");
    out_.text(call.name).text("\">\n");
    write_arguments(call);
    out_.text("</").special(kDsmlToken).text(dialect_.invoke).text(">\n");
  }
  out_.text("</").special(kDsmlToken).text(dialect_.calls).text(">");
}

void DeepseekTurns::write_arguments(const ToolCall& call) {
  const auto document = JsonDocument::parse(call.arguments);
  if (!document || document->tape().kind(JsonDocument::kRoot) != JsonKind::kObject) {
    return write_argument("arguments", call.arguments, true);
  }
  const JsonTape& tape = document->tape();
  std::string printed;
  bool any = false;
  tape.each(JsonDocument::kRoot, [&](std::string_view name, JsonTape::Index value) {
    any = true;
    if (tape.kind(value) == JsonKind::kString) return write_argument(name, tape.text(value), true);
    printed.clear();
    tape.print(value, dialect_.json, printed);
    write_argument(name, printed, false);
  });
  if (!any) out_.text(dialect_.no_arguments);
}

void DeepseekTurns::write_argument(std::string_view name, std::string_view value, bool is_string) {
  out_.text("<").special(kDsmlToken).text(dialect_.parameter).text(" name=\"").text(name);
  out_.text(is_string ? "\" string=\"true\">" : "\" string=\"false\">").text(value);
  out_.text("</").special(kDsmlToken).text(dialect_.parameter).text(">\n");
}

void DeepseekTurns::write_generation() {
  if (is_continued(conversation_)) return;
  out_.special(kAssistantToken);
  out_.special(conversation_.thinking ? kThinkToken : kThinkEndToken);
  if (has_tools_ && conversation_.tool_choice == ToolChoice::kRequired) {
    out_.pack(pack_.required_suffix);
  }
}

}  // namespace troupe::recipe
