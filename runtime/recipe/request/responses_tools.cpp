#include "runtime/recipe/request/responses_tools.hpp"

namespace troupe::recipe {
namespace {

bool is_web_search(std::string_view type) {
  return type == "web_search" || type == "web_search_2025_08_26";
}

constexpr std::string_view kPatchTool = "apply_patch";
constexpr std::string_view kSearchTool = "tool_search";

DeclaredTool declared(const ResponsesInnerTool& tool) {
  DeclaredTool result;
  result.name = tool.name.value;
  if (tool.description.given()) result.description = tool.description.value;
  if (tool.parameters.given()) result.parameters = tool.parameters.value.index;
  if (tool.strict.given()) result.strict = tool.strict.value;
  return result;
}

}  // namespace

bool is_known_tool(std::string_view type) {
  return type == "function" || type == "custom" || type == "namespace" || type == kSearchTool ||
         is_web_search(type);
}

bool ResponsesTools::read(const List<ResponsesTool>& tools) {
  reserve_names(tools);
  for (std::size_t i = 0; i < tools.size(); ++i) {
    if (!add(tools[i].value, {"tools[" + std::to_string(i) + "]", false})) return false;
  }
  return true;
}

bool ResponsesTools::load(const List<ResponsesTool>& tools, const std::string& path,
                          std::vector<std::string>& names) {
  const std::size_t before = set_.tools().size();
  for (std::size_t i = 0; i < tools.size(); ++i) {
    if (!add(tools[i].value, {path + "[" + std::to_string(i) + "]", true})) return false;
  }
  for (std::size_t i = before; i < set_.tools().size(); ++i) names.push_back(set_.tools()[i].name);
  return true;
}

/// Names without a namespace come before those that are made up.
void ResponsesTools::reserve_names(const List<ResponsesTool>& tools) {
  for (const auto& tool : tools) {
    if (tool.value.type.value == "function") taken_.emplace(tool.value.name.value);
  }
}

bool ResponsesTools::add(const ResponsesTool& tool, const Origin& origin) {
  const std::string_view type = tool.type.value;
  if (is_web_search(type)) {
    return !conversion_.options.responses_web_search_rejected ||
           conversion_.issues.rule("Server tools are not supported", origin.path);
  }
  if (type == "function") {
    if (!check_tool_name(tool.name.value, origin.path + ".name", conversion_.issues)) return false;
    DeclaredTool result = declared(tool);
    result.deferred = origin.deferred;
    taken_.insert(result.name);
    set_.add(std::move(result));
    return true;
  }
  if (type == "custom") return add_custom(tool.name.value, origin);
  if (type == "namespace") return add_namespace(tool, origin);
  if (type == kSearchTool) return add_search(tool, origin), true;
  // The reference drops what it does not know.
  return conversion_.compat() || conversion_.issues.unsupported(
                                     origin.path + ".type", "this server has no tools of its own");
}

bool ResponsesTools::add_namespace(const ResponsesTool& tool, const Origin& origin) {
  const std::string_view space = tool.name.value;
  Issues& issues = conversion_.issues;
  if (!check_tool_name(space, origin.path + ".name", issues)) return false;
  std::unordered_set<std::string_view> names;
  const std::string_view about = tool.description.value;
  for (std::size_t i = 0; i < tool.tools.value.size(); ++i) {
    const ResponsesInnerTool& inner = tool.tools.value[i].value;
    const std::string path = origin.path + ".tools[" + std::to_string(i) + "]";
    if (inner.type.value == "custom") {
      return issues.rule(
          "Currently custom tools are not allowed inside a namespace. Found custom tool '" +
              std::string(inner.name.value) + "' in " + path + ".",
          path);
    }
    if (!check_tool_name(inner.name.value, path + ".name", issues)) return false;
    if (!names.insert(inner.name.value).second) {
      return issues.rule("Tool names within a namespace must be unique.", origin.path);
    }
    DeclaredTool result = declared(inner);
    result.name = new_flat_name(space, inner.name.value);
    result.deferred = origin.deferred;
    if (!about.empty() && !conversion_.is_v4()) {
      result.description = std::string(about) + "\n" + result.description.value_or("");
    }
    set_.add(std::move(result));
  }
  return true;
}

std::string ResponsesTools::new_flat_name(std::string_view space, std::string_view name) {
  const std::string base = std::string(space).append(separator()).append(name);
  std::string flat = base;
  // Suffixes go on where they ended, so that many equal names take no quadratic time.
  for (std::size_t& i = suffixes_[base]; !taken_.insert(flat).second;) {
    flat = base + "_" + std::to_string(++i);
  }
  flat_.try_emplace({std::string(space), std::string(name)}, flat);
  conversion_.request.answer.namespaces[flat] = {std::string(space), std::string(name)};
  return flat;
}

std::string ResponsesTools::flat_name(std::string_view space, std::string_view name) const {
  const auto known = flat_.find({std::string(space), std::string(name)});
  if (known != flat_.end()) return known->second;
  return std::string(space).append(separator()).append(name);
}

bool ResponsesTools::add_custom(std::string_view name, const Origin& origin) {
  if (name != kPatchTool) {
    return conversion_.issues.rule(
        "Unsupported custom tool: '" + std::string(name) + "'. Only 'apply_patch' is supported.",
        origin.path);
  }
  const PromptPack* pack = conversion_.pack();
  if (pack == nullptr) {
    return conversion_.issues.unsupported(origin.path,
                                          "apply_patch needs the prompt pack of the model");
  }
  DeclaredTool tool;
  tool.name = name;
  tool.ready = &pack->apply_patch;
  tool.deferred = origin.deferred;
  set_.add(std::move(tool));
  conversion_.request.answer.custom_tools.emplace_back(name);
  return true;
}

/// Only a search that the client runs is a tool, and only V4.1 knows it.
void ResponsesTools::add_search(const ResponsesTool& tool, const Origin& origin) {
  if (tool.execution.value != "client" || conversion_.is_v4()) return;
  DeclaredTool result = declared(tool);
  result.name = kSearchTool;
  result.deferred = origin.deferred;
  result.strict.reset();
  set_.add(std::move(result));
}

void append_text_or_null(const Field<std::string_view>& field, std::string& out) {
  if (field.given()) {
    append_json_string(out, field.value);
  } else {
    out += "null";
  }
}

void append_part_or_null(const Field<JsonPart>& field, const JsonTape& tape, std::string& out) {
  if (field.given()) {
    tape.print(field.value.index, kCompactJson, out);
  } else {
    out += "null";
  }
}

void append_function_json(const ResponsesInnerTool& tool, const JsonTape& tape,
                          std::string_view extra, std::string& out) {
  out += R"({"type":"function","name":)";
  append_json_string(out, tool.name.value);
  out += R"(,"description":)";
  append_text_or_null(tool.description, out);
  out += R"(,"parameters":)";
  append_part_or_null(tool.parameters, tape, out);
  out += R"(,"strict":)";
  out += !tool.strict.given() ? "null" : tool.strict.value ? "true" : "false";
  out.append(extra).append("}");
}

namespace {

void append_web_search(const ResponsesTool& tool, std::string& out) {
  out += R"({"type":)";
  append_json_string(out, tool.type.value);
  out += R"(,"search_context_size":)";
  append_text_or_null(tool.search_context_size, out);
  out += R"(,"user_location":)";
  if (!tool.user_location.given()) {
    out += "null}";
    return;
  }
  const ResponsesLocation& place = tool.user_location.value;
  const std::pair<const char*, const Field<std::string_view>*> members[] = {
      {"{\"city\":", &place.city},
      {",\"country\":", &place.country},
      {",\"region\":", &place.region},
      {",\"timezone\":", &place.timezone}};
  for (const auto& [name, field] : members) {
    out += name;
    append_text_or_null(*field, out);
  }
  out += "}}";
}

}  // namespace

void append_tool_json(const ResponsesTool& tool, const JsonTape& tape, std::string& out) {
  const std::string_view type = tool.type.value;
  if (type == "function") return append_function_json(tool, tape, {}, out);
  if (is_web_search(type)) return append_web_search(tool, out);
  out += R"({"type":)";
  append_json_string(out, type);
  if (type == kSearchTool) {
    out += R"(,"execution":)";
    append_text_or_null(tool.execution, out);
    out += R"(,"description":)";
    append_text_or_null(tool.description, out);
    out += R"(,"parameters":)";
    append_part_or_null(tool.parameters, tape, out);
  } else {
    out += R"(,"name":)";
    append_json_string(out, tool.name.value);
  }
  if (type == "namespace") {
    out += R"(,"description":)";
    append_text_or_null(tool.description, out);
    out += R"(,"tools":[)";
    for (const auto& inner : tool.tools.value) {
      if (out.back() != '[') out += ',';
      append_function_json(inner.value, tape, {}, out);
    }
    out += ']';
  }
  out += '}';
}

}  // namespace troupe::recipe
