#include "runtime/recipe/request/tools.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "runtime/recipe/request/conversion.hpp"
#include "runtime/recipe/request/schema_validity.hpp"
#include "runtime/recipe/request/strict_schema.hpp"

namespace troupe::recipe {
namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

/// What a schema's member `type` is, for an error.
std::string type_shown(const JsonTape& tape, JsonTape::Index schema) {
  const JsonTape::Index type = tape.find(schema, "type");
  if (type == JsonTape::kNone || tape.kind(type) == JsonKind::kNull) return "type: null";
  std::string shown = "type: ";
  tape.print(type, kCompactJson, shown);
  return shown;
}

bool is_object_type(const JsonTape& tape, JsonTape::Index schema) {
  const JsonTape::Index type = tape.find(schema, "type");
  return type != JsonTape::kNone && tape.kind(type) == JsonKind::kString &&
         tape.text(type) == "object";
}

}  // namespace

bool check_tool_name(std::string_view name, const std::string& path, Issues& issues) {
  if (name.empty()) {
    return issues.rule("Invalid '" + path +
                           "': empty string. Expected a string with minimum length 1, but got an "
                           "empty string instead.",
                       path);
  }
  if (std::all_of(name.begin(), name.end(), is_name_char)) return true;
  return issues.rule("Invalid '" + path +
                         "': string does not match pattern. Expected a string that matches the "
                         "pattern '^[a-zA-Z0-9_-]+$'.",
                     path);
}

void ToolSet::add(DeclaredTool tool) {
  names_.insert(tool.name);
  tools_.push_back(std::move(tool));
}

bool ToolSet::define(const DeclaredTool& tool, ToolDefinition& definition) {
  if (tool.ready != nullptr) {
    definition = *tool.ready;
    definition.deferred = tool.deferred;
    return true;
  }
  definition.name = tool.name;
  definition.description = tool.description;
  definition.strict = tool.strict;
  definition.deferred = tool.deferred;
  if (tool.strict.value_or(false)) {
    definition.parameters.clear();
    const auto why =
        print_strict_schema(tape_, tool.parameters, SchemaUse::kTool, definition.parameters);
    return !why || issues_.rule(*why, "tools");
  }
  const std::string about = "Invalid schema for function '" + tool.name + "': ";
  if (tool.parameters == JsonTape::kNone) {
    return !tool.parameters_required ||
           issues_.rule(about + "null is not of types \"boolean\", \"object\"", "tools");
  }
  const bool empty =
      tape_.kind(tool.parameters) == JsonKind::kObject && tape_.count(tool.parameters) == 0;
  if (empty && !issues_.compat()) return true;  // the same as none
  if (const auto why = invalid_schema(tape_, tool.parameters)) {
    return issues_.rule(about + *why, "tools");
  }
  if (!is_object_type(tape_, tool.parameters)) {
    return issues_.rule(about + "schema must be a JSON Schema of 'type: \"object\"', got '" +
                            type_shown(tape_, tool.parameters) + "'.",
                        "tools");
  }
  definition.parameters.clear();
  definition.parameters.reserve(256);
  tape_.print(tool.parameters, kCompactJson, definition.parameters);
  return true;
}

namespace {

/// Messages load no tool but this one; those that have nothing else to say are left out.
void load_only(std::string_view name, std::vector<Message>& messages) {
  std::erase_if(messages, [&](Message& message) {
    const bool loaded = !message.loaded_tools.empty();
    std::erase_if(message.loaded_tools, [&](const std::string& each) { return each != name; });
    return loaded && message.loaded_tools.empty() && is_empty_text(message);
  });
}

}  // namespace

bool ToolSet::choose(const DeclaredChoice& choice, bool thinking, Conversation& conversation) {
  if (!choice.must_call()) return true;
  if (tools_.empty()) {
    return issues_.compat() ||
           issues_.rule("'tool_choice' wants a call, but the request has no tools", "tool_choice");
  }
  auto& tools = conversation.tools;
  if (choice.kind == ChoiceKind::kNamed) {
    const auto wanted = std::find_if(tools.begin(), tools.end(), [&](const ToolDefinition& tool) {
      return tool.name == choice.name;
    });
    if (wanted == tools.end()) {
      return issues_.rule("Invalid value for 'tool_call': no function named '" + choice.name +
                              "' was specified in the 'tools' parameter.",
                          "tool_choice");
    }
    ToolDefinition only = std::move(*wanted);
    tools.clear();
    tools.push_back(std::move(only));
    load_only(tools.front().name, conversation.messages);
  }
  if (thinking) {
    return issues_.rule("Thinking mode does not support this tool_choice", "tool_choice");
  }
  conversation.tool_choice = ToolChoice::kRequired;
  return true;
}

bool ToolSet::finish(const DeclaredChoice& choice, bool thinking, Conversation& conversation) {
  if (choice.kind == ChoiceKind::kNone) {
    conversation.tool_choice = ToolChoice::kNone;
    return true;
  }
  std::unordered_set<std::string_view> names;
  conversation.tools.reserve(tools_.size());
  for (const DeclaredTool& tool : tools_) {
    if (!names.insert(tool.name).second) {
      return issues_.rule("Tool names must be unique.", "tools");
    }
    if (!define(tool, conversation.tools.emplace_back())) return false;
  }
  return choose(choice, thinking, conversation);
}

OutputConstraint tool_constraint(const Conversation& conversation) {
  const bool required = conversation.tool_choice == ToolChoice::kRequired;
  OutputConstraint constraint{required ? "tool_call_required" : "tool_call", "["};
  std::string& out = constraint.schema;
  std::size_t bytes = 2;
  for (const ToolDefinition& tool : conversation.tools) {
    bytes += 128 + tool.name.size() + (tool.description ? tool.description->size() : 0) +
             tool.parameters.size();
  }
  out.reserve(bytes);
  for (const ToolDefinition& tool : conversation.tools) {
    if (out.size() > 1) out += ',';
    out += R"({"type":"function","function":{"name":)";
    append_json_string(out, tool.name);
    out += R"(,"description":)";
    if (tool.description) {
      append_json_string(out, *tool.description);
    } else {
      out += "null";
    }
    out.append(R"(,"parameters":)").append(tool.parameters).append(R"(,"strict":)");
    out += !tool.strict ? "null" : *tool.strict ? "true" : "false";
    out += tool.deferred ? R"(},"defer_loading":true})" : "}}";
  }
  out += ']';
  return constraint;
}

}  // namespace troupe::recipe
