#include "runtime/recipe/request/responses_shape.hpp"

#include <limits>

#include "runtime/recipe/request/thinking.hpp"

namespace troupe::recipe {
namespace {

bool check_part(const ResponsesPart& part, ShapeCheck& check) {
  if (!check.required(part.type, "type")) return false;
  const std::string_view type = part.type.value;
  if (type == "refusal" && !check.compat()) return check.required(part.refusal, "refusal");
  if (!check.one_of(type, "type", {"input_text", "output_text", "input_image", "input_file"})) {
    return false;
  }
  if (type == "input_file") return true;
  if (type != "input_image") return check.required(part.text, "text");
  return check.optional(part.image_url, "image_url") && check.optional(part.file_id, "file_id") &&
         check.optional_one_of(part.detail, "detail", {"low", "high", "original", "auto"});
}

bool check_content(const ResponsesContent& content, std::string_view name, ShapeCheck& check) {
  return check.each(content.container, name,
                    [&](const ResponsesPart& part) { return check_part(part, check); });
}

bool check_function(const ResponsesInnerTool& tool, ShapeCheck& check) {
  return check.required(tool.name, "name") && check.optional(tool.description, "description") &&
         check.optional(tool.strict, "strict");
}

bool check_location(const ResponsesTool& tool, ShapeCheck& check) {
  const ResponsesLocation& place = tool.user_location.value;
  return check.optional(tool.user_location, "user_location") && check.within("user_location", [&] {
    return check.optional(place.city, "city") && check.optional(place.country, "country") &&
           check.optional(place.region, "region") && check.optional(place.timezone, "timezone");
  });
}

bool check_namespace(const ResponsesTool& tool, ShapeCheck& check) {
  return check.required(tool.name, "name") && check.optional(tool.description, "description") &&
         check.required(tool.tools, "tools") &&
         check.each(tool.tools.value, "tools", [&](const ResponsesInnerTool& inner) {
           if (!check.required_one_of(inner.type, "type", {"function", "custom"})) return false;
           return inner.type.value == "custom" ? check.required(inner.name, "name")
                                               : check_function(inner, check);
         });
}

bool check_tool(const ResponsesTool& tool, ShapeCheck& check) {
  if (!check.required(tool.type, "type")) return false;
  const std::string_view type = tool.type.value;
  if (type == "function") return check_function(tool, check);
  if (type == "custom") return check.required(tool.name, "name");
  if (type == "namespace") return check_namespace(tool, check);
  if (type == "tool_search") {
    return check.optional_one_of(tool.execution, "execution", {"client", "server"}) &&
           check.optional(tool.description, "description");
  }
  if (type != "web_search" && type != "web_search_2025_08_26") return true;
  return check.optional_one_of(tool.search_context_size, "search_context_size",
                               {"low", "medium", "high"}) &&
         check_location(tool, check);
}

bool check_tools(const Field<List<ResponsesTool>>& tools, ShapeCheck& check) {
  return check.optional(tools, "tools") &&
         check.each(tools.value, "tools",
                    [&](const ResponsesTool& tool) { return check_tool(tool, check); });
}

bool check_message(const ResponsesItem& item, ShapeCheck& check) {
  return check.required_one_of(item.role, "role", {"user", "assistant", "system", "developer"}) &&
         check.required(item.content, "content") &&
         check_content(item.content.value, "content", check);
}

bool check_reasoning(const ResponsesItem& item, ShapeCheck& check) {
  if (!check.optional(item.encrypted_content, "encrypted_content")) return false;
  if (!check.optional(item.content, "content") || !item.content.given()) {
    return item.content.presence != Presence::kWrong;
  }
  if (!item.content.value.is_container)
    return check.wrong_type("content", item.content.got, "a list");
  return check.each(item.content.value.container, "content",
                    [&](const ResponsesPart& part) { return check.required(part.text, "text"); });
}

bool check_call(const ResponsesItem& item, ShapeCheck& check) {
  if (!check.required(item.call_id, "call_id") || !check.required(item.name, "name")) return false;
  if (item.type.value == "custom_tool_call") return check.required(item.input, "input");
  if (item.arguments.presence == Presence::kAbsent) return check.missing("arguments");
  if (item.arguments.got != JsonKind::kString) {
    return check.wrong_type("arguments", item.arguments.got, "a string");
  }
  return check.optional(item.space, "namespace");
}

bool check_output(const ResponsesItem& item, ShapeCheck& check) {
  const bool custom = item.type.value == "custom_tool_call_output";
  const bool id =
      custom ? check.required(item.call_id, "call_id") : check.optional(item.call_id, "call_id");
  if (!id) return false;
  if (custom && item.output.presence == Presence::kAbsent) return true;
  return check.required(item.output, "output") && check_content(item.output.value, "output", check);
}

bool check_search(const ResponsesItem& item, ShapeCheck& check) {
  if (!check.required(item.call_id, "call_id") ||
      !check.optional_one_of(item.execution, "execution", {"client", "server"})) {
    return false;
  }
  if (item.type.value == "tool_search_output") {
    return check.required(item.tools, "tools") && check_tools(item.tools, check);
  }
  return item.arguments.got == JsonKind::kObject ||
         check.wrong_type("arguments", item.arguments.got, "an object");
}

bool check_item(const ResponsesItem& item, ShapeCheck& check) {
  if (item.type.presence == Presence::kAbsent) {
    if (item.role.presence == Presence::kAbsent) return check.missing("type");
    return check_message(item, check);
  }
  if (!check.required(item.type, "type")) return false;
  const std::string_view type = item.type.value;
  if (type == "message") return check_message(item, check);
  if (type == "reasoning") return check_reasoning(item, check);
  if (type == "function_call" || type == "custom_tool_call") return check_call(item, check);
  if (type == "function_call_output" || type == "custom_tool_call_output") {
    return check_output(item, check);
  }
  return (type != "tool_search_call" && type != "tool_search_output") || check_search(item, check);
}

bool check_choice(const ResponsesBody& body, ShapeCheck& check) {
  if (!check.optional(body.tool_choice, "tool_choice") || !body.tool_choice.given()) {
    return body.tool_choice.presence != Presence::kWrong;
  }
  const auto& choice = body.tool_choice.value;
  if (!choice.is_container) {
    return check.one_of(choice.scalar, "tool_choice", {"none", "auto", "required"});
  }
  return check.within("tool_choice", [&] {
    const ResponsesToolChoice& named = choice.container;
    if (!check.required_one_of(named.type, "type",
                               {"function", "web_search", "web_search_2025_08_26", "custom"})) {
      return false;
    }
    return named.type.value.starts_with("web_search") || check.required(named.name, "name");
  });
}

bool check_format(const ResponsesFormat& format, ShapeCheck& check) {
  if (!check.required_one_of(format.type, "type", {"text", "json_schema", "json_object"})) {
    return false;
  }
  if (format.type.value != "json_schema") return true;
  if (format.schema.presence == Presence::kAbsent) return check.missing("schema");
  return check.required(format.name, "name") && check.optional(format.description, "description") &&
         check.optional(format.strict, "strict");
}

bool check_text(const ResponsesBody& body, ShapeCheck& check) {
  return check.optional(body.text, "text") && check.within("text", [&] {
    const ResponsesText& text = body.text.value;
    if (!check.optional_one_of(text.verbosity, "verbosity", {"low", "medium", "high"})) {
      return false;
    }
    if (text.format.presence == Presence::kAbsent) return true;
    return check.required(text.format, "format") &&
           check.within("format", [&] { return check_format(text.format.value, check); });
  });
}

bool check_reasoning_config(const ResponsesBody& body, ShapeCheck& check) {
  return check.optional(body.reasoning, "reasoning") && check.within("reasoning", [&] {
    const ResponsesReasoning& reasoning = body.reasoning.value;
    return check_effort(reasoning.effort, "effort", check) &&
           check.optional_one_of(reasoning.summary, "summary", {"auto", "concise", "detailed"});
  });
}

bool check_default_mode(const ResponsesBody& body, ShapeCheck& check) {
  return check.optional(body.store, "store") &&
         check.optional(body.prompt_cache_key, "prompt_cache_key") &&
         check.optional(body.safety_identifier, "safety_identifier");
}

}  // namespace

bool check_shape(const ResponsesBody& body, ShapeCheck& check) {
  constexpr std::uint64_t kU8Max = std::numeric_limits<std::uint8_t>::max();
  constexpr std::uint64_t kU32Max = std::numeric_limits<std::uint32_t>::max();
  const bool model =
      check.compat() ? check.required(body.model, "model") : check.optional(body.model, "model");
  if (!model || !check.optional(body.input, "input")) return false;
  if (!check.each(body.input.value.container, "input",
                  [&](const ResponsesItem& item) { return check_item(item, check); })) {
    return false;
  }
  return check.optional(body.instructions, "instructions") && check.optional(body.user, "user") &&
         check.optional(body.stream, "stream") &&
         (check.compat() || check_default_mode(body, check)) && check_tools(body.tools, check) &&
         check_choice(body, check) && check_text(body, check) &&
         check_reasoning_config(body, check) && check.optional(body.temperature, "temperature") &&
         check.optional(body.top_p, "top_p") &&
         check.whole(body.top_logprobs, "top_logprobs", kU8Max) &&
         check.whole(body.max_output_tokens, "max_output_tokens", kU32Max);
}

}  // namespace troupe::recipe
