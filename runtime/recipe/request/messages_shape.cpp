#include "runtime/recipe/request/messages_shape.hpp"

#include <limits>

namespace troupe::recipe {
namespace {

bool check_image(const Field<MessagesSource>& field, ShapeCheck& check) {
  return check.required(field, "source") && check.within("source", [&] {
    const MessagesSource& source = field.value;
    if (!check.required_one_of(source.type, "type", {"base64", "url", "file"})) return false;
    if (source.type.value == "url") return check.required(source.url, "url");
    if (source.type.value == "file") return check.required(source.file_id, "file_id");
    return check.required_one_of(
               source.media_type, "media_type",
               {"image/jpeg", "image/jpg", "image/png", "image/gif", "image/webp"}) &&
           check.required(source.data, "data");
  });
}

bool check_document(const Field<MessagesSource>& field, ShapeCheck& check) {
  return check.required(field, "source") && check.within("source", [&] {
    return check.optional(field.value.media_type, "media_type");
  });
}

bool check_inner(const MessagesInnerBlock& block, ShapeCheck& check) {
  if (!check.required_one_of(block.type, "type", {"text", "image", "document", "tool_reference"})) {
    return false;
  }
  if (block.type.value == "text") return check.required(block.text, "text");
  if (block.type.value == "image") return check_image(block.source, check);
  if (block.type.value == "document") return check_document(block.source, check);
  return check.required(block.tool_name, "tool_name");
}

bool check_given(const Field<JsonPart>& field, std::string_view name, ShapeCheck& check) {
  return field.presence != Presence::kAbsent || check.missing(name);
}

bool check_tool_use(const MessagesBlock& block, ShapeCheck& check) {
  if (!check.required(block.id, "id") || !check.required(block.name, "name") ||
      !check_given(block.input, "input", check)) {
    return false;
  }
  // The reference takes any input; a call without names for its arguments is none.
  return check.compat() || block.input.got == JsonKind::kObject ||
         block.type.value == "server_tool_use" ||
         check.wrong_type("input", block.input.got, "an object");
}

bool check_tool_result(const MessagesBlock& block, ShapeCheck& check) {
  return check.required(block.tool_use_id, "tool_use_id") &&
         check.optional(block.content, "content") && check.optional(block.is_error, "is_error") &&
         check.each(block.content.value.container, "content",
                    [&](const MessagesInnerBlock& inner) { return check_inner(inner, check); });
}

bool check_block(const MessagesBlock& block, ShapeCheck& check) {
  if (!check.required(block.type, "type")) return false;
  const std::string_view type = block.type.value;
  if (type == "redacted_thinking" && !check.compat()) return true;
  if (!check.one_of(type, "type",
                    {"text", "image", "document", "thinking", "server_tool_use", "tool_use",
                     "tool_result", "web_search_tool_result", "tool_addition"})) {
    return false;
  }
  if (type == "text") return check.required(block.text, "text");
  if (type == "image") return check_image(block.source, check);
  if (type == "document") return check_document(block.source, check);
  if (type == "thinking") {
    return check.required(block.thinking, "thinking") &&
           check.optional(block.signature, "signature");
  }
  if (type == "tool_use" || type == "server_tool_use") return check_tool_use(block, check);
  if (type == "tool_result") return check_tool_result(block, check);
  if (type == "web_search_tool_result") return check.required(block.tool_use_id, "tool_use_id");
  return check.required(block.tool, "tool") && check.within("tool", [&] {
    return check.required_one_of(block.tool.value.type, "type", {"tool_reference"}) &&
           check.required(block.tool.value.name, "name");
  });
}

bool check_message(const MessagesMessage& message, ShapeCheck& check) {
  return check.required_one_of(message.role, "role", {"user", "assistant", "system"}) &&
         check.required(message.content, "content") &&
         check.each(message.content.value.container, "content",
                    [&](const MessagesBlock& block) { return check_block(block, check); });
}

bool check_system(const MessagesBody& body, ShapeCheck& check) {
  return check.optional(body.system, "system") &&
         check.each(body.system.value.container, "system", [&](const MessagesInnerBlock& block) {
           return check.required_one_of(block.type, "type", {"text"}) &&
                  check.required(block.text, "text");
         });
}

bool check_tool(const MessagesTool& tool, ShapeCheck& check) {
  if (tool.type.presence != Presence::kAbsent) {
    if (!check.required(tool.type, "type")) return false;
    if (check.compat() || tool.type.value != "custom") return check.optional(tool.name, "name");
  }
  return check.required(tool.name, "name") && check.optional(tool.description, "description") &&
         check.optional(tool.defer_loading, "defer_loading");
}

bool check_tools(const MessagesBody& body, ShapeCheck& check) {
  if (!check.optional(body.tools, "tools") ||
      !check.each(body.tools.value, "tools",
                  [&](const MessagesTool& tool) { return check_tool(tool, check); }) ||
      !check.optional(body.tool_choice, "tool_choice")) {
    return false;
  }
  return !body.tool_choice.given() || check.within("tool_choice", [&] {
    const MessagesToolChoice& choice = body.tool_choice.value;
    return check.required_one_of(choice.type, "type", {"auto", "any", "tool", "none"}) &&
           (choice.type.value != "tool" || check.required(choice.name, "name")) &&
           check.optional(choice.disable_parallel_tool_use, "disable_parallel_tool_use");
  });
}

bool check_format(const Field<MessagesFormat>& format, std::string_view name, ShapeCheck& check) {
  if (check.compat()) return true;
  if (!check.optional(format, name) || !format.given()) {
    return format.presence != Presence::kWrong;
  }
  return check.within(name, [&] {
    return check.required_one_of(format.value.type, "type", {"json_schema"}) &&
           check_given(format.value.schema, "schema", check);
  });
}

bool check_output(const MessagesBody& body, ShapeCheck& check) {
  return check.optional(body.output_config, "output_config") && check.within("output_config", [&] {
    const MessagesOutputConfig& config = body.output_config.value;
    return check_effort(config.effort, "effort", check) &&
           check_format(config.format, "format", check);
  }) && check_format(body.output_format, "output_format", check);
}

}  // namespace

bool check_shape(const MessagesBody& body, ShapeCheck& check) {
  constexpr std::uint64_t kU32Max = std::numeric_limits<std::uint32_t>::max();
  const bool model =
      check.compat() ? check.required(body.model, "model") : check.optional(body.model, "model");
  if (!model || !check.required(body.messages, "messages")) return false;
  if (!check.each(body.messages.value, "messages",
                  [&](const MessagesMessage& message) { return check_message(message, check); })) {
    return false;
  }
  return check_system(body, check) && check.optional(body.stream, "stream") &&
         check.whole(body.max_tokens, "max_tokens", kU32Max) &&
         check.optional(body.temperature, "temperature") && check.optional(body.top_p, "top_p") &&
         check.optional(body.stop_sequences, "stop_sequences") &&
         check.each(body.stop_sequences.value, "stop_sequences",
                    [](std::string_view) { return true; }) &&
         check_tools(body, check) && check_thinking(body.thinking, check) &&
         check_output(body, check) && check.optional(body.metadata, "metadata") &&
         check.within("metadata",
                      [&] { return check.optional(body.metadata.value.user_id, "user_id"); });
}

}  // namespace troupe::recipe
