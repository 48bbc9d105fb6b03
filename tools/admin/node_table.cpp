#include "tools/admin/node_table.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>

#include <algorithm>

namespace troupe {

namespace {

constexpr auto kParse = rapidjson::kParseIterativeFlag;

/// A member as text: strings as they are, whole numbers without a fraction, absent ones as "-".
std::string cell(const rapidjson::Value& object, const char* key) {
  const auto at = object.FindMember(key);
  if (at == object.MemberEnd()) return "-";
  if (at->value.IsString()) return at->value.GetStringLength() > 0 ? at->value.GetString() : "-";
  if (at->value.IsUint64()) return std::to_string(at->value.GetUint64());
  if (at->value.IsNumber()) return fmt::format("{:.1f}", at->value.GetDouble());
  return "-";
}

/// "requests=3/320 ranks=1", as cores describe themselves: a line a key. Other text stays one line.
std::string format_state(const std::string& state) {
  std::string out;
  for (std::size_t begin = 0; begin < state.size();) {
    const auto end = std::min(state.find(' ', begin), state.size());
    const std::string word = state.substr(begin, end - begin);
    const auto equals = word.find('=');
    if (equals == std::string::npos) return state + '\n';
    out += fmt::format("{:<12} {}\n", word.substr(0, equals), word.substr(equals + 1));
    begin = end + 1;
  }
  return out;
}

Error unexpected(const char* what) {
  return {Code::kCorrupt, fmt::format("the node's {} is not what this program expects", what)};
}

}  // namespace

Result<std::string> format_nodes(std::string_view json) {
  rapidjson::Document document;
  document.Parse<kParse>(json.data(), json.size());
  if (!document.IsObject() || !document.HasMember("nodes") || !document["nodes"].IsArray()) {
    return unexpected("list of nodes");
  }
  constexpr auto kRow = "{:<10}  {:<11}  {:<12}  {:<22}  {:<13}  {:>6}  {}\n";
  std::string out =
      fmt::format(kRow, "NODE", "INCARNATION", "LINK", "STATE", "ROLES", "ACTORS", "SERVES");
  for (const auto& node : document["nodes"].GetArray()) {
    if (!node.IsObject()) return unexpected("list of nodes");
    out += fmt::format(kRow, cell(node, "node"), cell(node, "incarnation"), cell(node, "address"),
                       cell(node, "state"), cell(node, "roles"), cell(node, "actors"),
                       cell(node, "about"));
  }
  return out;
}

Result<std::string> format_actor(std::string_view json) {
  rapidjson::Document document;
  document.Parse<kParse>(json.data(), json.size());
  if (!document.IsObject() || !document.HasMember("actor") || !document["actor"].IsObject()) {
    return unexpected("account of the actor");
  }
  std::string out;
  for (const auto& field : document["actor"].GetObject()) {
    out += fmt::format("{:<12} {}\n", field.name.GetString(),
                       cell(document["actor"], field.name.GetString()));
  }
  return out + format_state(cell(document, "state"));
}

}  // namespace troupe
