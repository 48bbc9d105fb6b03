#include "runtime/recipe/request/chat_shape.hpp"

#include <limits>

namespace troupe::recipe {
namespace {

constexpr std::uint64_t kU8Max = std::numeric_limits<std::uint8_t>::max();
constexpr std::uint64_t kU32Max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kU64Max = std::numeric_limits<std::uint64_t>::max();

bool check_part(const ChatPart& part, bool assistant, ShapeCheck& check) {
  if (!check.required(part.type, "type")) return false;
  if (assistant && !check.compat() && part.type.value == "refusal") {
    return check.required(part.refusal, "refusal");
  }
  if (!check.one_of(part.type.value, "type", {"text", "image_url", "file"})) return false;
  if (part.type.value == "text") return check.required(part.text, "text");
  if (part.type.value == "image_url") {
    return check.required(part.image_url, "image_url") && check.within("image_url", [&] {
      const ChatImageUrl& image = part.image_url.value;
      return check.required(image.url, "url") &&
             check.optional_one_of(image.detail, "detail", {"low", "high", "original", "auto"});
    });
  }
  return check.optional(part.file_id, "file_id") && check.optional(part.file_data, "file_data") &&
         check.optional(part.filename, "filename");
}

bool check_content(const ChatMessageBody& message, bool assistant, ShapeCheck& check) {
  const bool right = assistant ? check.optional(message.content, "content")
                               : check.required(message.content, "content");
  if (!right || !message.content.given() || !message.content.value.is_container) return right;
  return check.each(message.content.value.container, "content",
                    [&](const ChatPart& part) { return check_part(part, assistant, check); });
}

bool check_call(const ChatCall& call, ShapeCheck& check) {
  return check.required(call.id, "id") && check.required_one_of(call.type, "type", {"function"}) &&
         check.required(call.function, "function") && check.within("function", [&] {
           return check.required(call.function.value.name, "name") &&
                  check.required(call.function.value.arguments, "arguments");
         });
}

bool check_assistant(const ChatMessageBody& message, ShapeCheck& check) {
  if (!check_content(message, true, check) || !check.optional(message.name, "name") ||
      !check.optional(message.reasoning_content, "reasoning_content") ||
      !check.optional(message.prefix, "prefix") ||
      !check.optional(message.tool_calls, "tool_calls")) {
    return false;
  }
  return check.each(message.tool_calls.value, "tool_calls",
                    [&](const ChatCall& call) { return check_call(call, check); });
}

bool check_message(const ChatMessageBody& message, ShapeCheck& check) {
  if (!check.required(message.role, "role")) return false;
  const std::string_view role = message.role.value;
  if (role != "latest_reminder" && (check.compat() || role != "developer")) {
    const bool right =
        check.compat()
            ? check.one_of(role, "role", {"system", "user", "assistant", "tool"})
            : check.one_of(role, "role", {"system", "developer", "user", "assistant", "tool"});
    if (!right) return false;
  }
  if (role == "assistant") return check_assistant(message, check);
  if (role == "tool" && !check.required(message.tool_call_id, "tool_call_id")) return false;
  if (role == "latest_reminder" && message.content.given() && message.content.value.is_container) {
    return check.wrong_type("content", message.content.got, "a string");
  }
  if ((role == "system" || role == "user") && !check.optional(message.name, "name")) return false;
  return check_content(message, false, check);
}

bool check_tool(const ChatTool& tool, ShapeCheck& check) {
  return check.required_one_of(tool.type, "type", {"function"}) &&
         check.required(tool.function, "function") && check.within("function", [&] {
           const ChatToolFunction& function = tool.function.value;
           return check.required(function.name, "name") &&
                  check.optional(function.description, "description") &&
                  check.optional(function.strict, "strict");
         });
}

bool check_tools(const ChatBody& body, ShapeCheck& check) {
  if (!check.optional(body.tools, "tools")) return false;
  if (!check.each(body.tools.value, "tools",
                  [&](const ChatTool& tool) { return check_tool(tool, check); })) {
    return false;
  }
  if (!check.optional(body.tool_choice, "tool_choice")) return false;
  if (!body.tool_choice.given()) return true;
  const auto& choice = body.tool_choice.value;
  if (!choice.is_container) {
    return check.one_of(choice.scalar, "tool_choice", {"none", "auto", "required"});
  }
  return check.within("tool_choice", [&] {
    return check.required_one_of(choice.container.type, "type", {"function"}) &&
           check.required(choice.container.function, "function") && check.within("function", [&] {
             return check.required(choice.container.function.value.name, "name");
           });
  });
}

bool check_format(const ChatBody& body, ShapeCheck& check) {
  if (!check.optional(body.response_format, "response_format")) return false;
  if (!body.response_format.given()) return true;
  const ChatFormat& format = body.response_format.value;
  return check.within("response_format", [&] {
    if (!check.required_one_of(format.type, "type",
                               {"json_object", "json_schema", "regex", "text"})) {
      return false;
    }
    if (format.type.value == "regex") return check.required(format.regex, "regex");
    if (format.type.value != "json_schema") return true;
    return check.required(format.json_schema, "json_schema") && check.within("json_schema", [&] {
      const ChatJsonSchema& schema = format.json_schema.value;
      if (schema.schema.presence == Presence::kAbsent) return check.missing("schema");
      return check.optional(schema.name, "name") && check.optional(schema.strict, "strict");
    });
  });
}

bool check_sampling(const ChatBody& body, ShapeCheck& check) {
  if (!check.optional(body.stop, "stop")) return false;
  if (body.stop.given() && body.stop.value.is_container &&
      !check.each(body.stop.value.container, "stop", [](std::string_view) { return true; })) {
    return false;
  }
  const bool seed =
      check.compat() ? check.whole(body.seed, "seed", kU64Max) : check.optional(body.seed, "seed");
  return seed && check.whole(body.max_tokens, "max_tokens", kU32Max) &&
         check.optional(body.temperature, "temperature") && check.optional(body.top_p, "top_p") &&
         check.whole(body.n, "n", kU8Max) &&
         check.optional(body.presence_penalty, "presence_penalty") &&
         check.optional(body.frequency_penalty, "frequency_penalty") &&
         check.optional(body.logprobs, "logprobs") &&
         check.whole(body.top_logprobs, "top_logprobs", kU8Max);
}

bool check_extensions(const ChatExtensions& body, ShapeCheck& check) {
  return check.compat() ||
         (check.whole(body.max_completion_tokens, "max_completion_tokens", kU32Max) &&
          check.optional(body.top_k, "top_k") && check.optional(body.min_p, "min_p") &&
          check.optional(body.ignore_eos, "ignore_eos") &&
          check.whole(body.min_tokens, "min_tokens", kU32Max));
}

}  // namespace

bool check_shape(const ChatBody& body, ShapeCheck& check) {
  const bool model =
      check.compat() ? check.required(body.model, "model") : check.optional(body.model, "model");
  if (!model || !check.required(body.messages, "messages")) return false;
  if (!check.each(body.messages.value, "messages",
                  [&](const ChatMessageBody& message) { return check_message(message, check); })) {
    return false;
  }
  if (!check.optional(body.stream, "stream") ||
      !check.optional(body.stream_options, "stream_options") ||
      !check.within("stream_options", [&] {
        return check.optional(body.stream_options.value.include_usage, "include_usage");
      })) {
    return false;
  }
  return check_tools(body, check) && check_format(body, check) &&
         check_thinking(body.thinking, check) &&
         check_effort(body.reasoning_effort, "reasoning_effort", check) &&
         check_sampling(body, check) &&
         check.optional(body.parallel_tool_calls, "parallel_tool_calls") &&
         check_extensions(body, check);
}

}  // namespace troupe::recipe
