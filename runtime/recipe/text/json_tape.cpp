#include "runtime/recipe/text/json_tape.hpp"

#include <algorithm>
#include <utility>

namespace troupe {
bool JsonTape::add(JsonKind kind, std::string_view text) {
  constexpr std::size_t kNodesFirst = 128;  // a few tools
  if (full()) return false;
  if (nodes_.capacity() == 0) nodes_.reserve(kNodesFirst);
  nodes_.push_back({std::exchange(key_, {}), text, next() + 1, kNone, kind, false});
  return true;
}

bool JsonTape::begin(JsonKind kind) {
  open_.push_back(next());
  return add(kind, {});
}

bool JsonTape::end_array() {
  nodes_[open_.back()].end = next();
  open_.pop_back();
  return true;
}

bool JsonTape::end_object() {
  const Index object = open_.back();
  end_array();
  hide_duplicates(object);
  return true;
}

void JsonTape::hide_duplicates(Index object) {
  members_.clear();
  for (Index i = object + 1; i < nodes_[object].end; i = nodes_[i].end) members_.push_back(i);
  // Sorting keeps hostile objects of many members from taking quadratic time.
  std::sort(members_.begin(), members_.end(), [&](Index a, Index b) {
    const int order = nodes_[a].key.compare(nodes_[b].key);
    return order != 0 ? order < 0 : a < b;
  });
  for (std::size_t i = 1, first = 0; i < members_.size(); ++i) {
    if (nodes_[members_[i]].key != nodes_[members_[first]].key) {
      first = i;
      continue;
    }
    nodes_[members_[first]].newest = members_[i];
    nodes_[members_[i]].hidden = true;
  }
}

JsonTape::Index JsonTape::find(Index object, std::string_view key) const {
  if (nodes_[object].kind != JsonKind::kObject) return kNone;
  Index found = kNone;
  for (Index i = object + 1; i < nodes_[object].end; i = nodes_[i].end) {
    if (nodes_[i].key == key) found = i;
  }
  return found;
}

std::size_t JsonTape::count(Index container) const {
  std::size_t count = 0;
  each(container, [&](std::string_view, Index) { ++count; });
  return count;
}

void JsonTape::print(Index index, JsonStyle style, std::string& out) const {
  const Node& node = nodes_[index];
  switch (node.kind) {
    case JsonKind::kNull:
      out += "null";
      return;
    case JsonKind::kFalse:
      out += "false";
      return;
    case JsonKind::kTrue:
      out += "true";
      return;
    case JsonKind::kNumber:
      return append_json_number(out, node.text, style.numbers);
    case JsonKind::kString:
      return append_json_string(out, node.text);
    case JsonKind::kArray:
    case JsonKind::kObject:
      break;
  }
  const bool object = node.kind == JsonKind::kObject;
  bool first = true;
  out += object ? '{' : '[';
  each(index, [&](std::string_view key, Index value) {
    if (!std::exchange(first, false)) out += style.spaced ? ", " : ",";
    if (object) {
      append_json_string(out, key);
      out += style.spaced ? ": " : ":";
    }
    print(value, style, out);
  });
  out += object ? '}' : ']';
}

std::optional<JsonDocument> JsonDocument::parse(std::string_view text) {
  JsonDocument document(text);
  if (!parse_json_events(document.buffer_, document.tape_).ok()) return std::nullopt;
  return document;
}

}  // namespace troupe
