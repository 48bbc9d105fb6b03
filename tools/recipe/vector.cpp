#include "tools/recipe/vector.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

using recipe::Protocol;

constexpr std::array kKinds = std::to_array<std::pair<std::string_view, VectorKind>>({
    {"encode", VectorKind::kEncode},
    {"error", VectorKind::kError},
    {"limits", VectorKind::kLimits},
    {"tokenize", VectorKind::kTokenize},
    {"stream", VectorKind::kStream},
});

constexpr std::array kProtocols = std::to_array<std::pair<std::string_view, Protocol>>({
    {"chat", Protocol::kChat},
    {"responses", Protocol::kResponses},
    {"messages", Protocol::kMessages},
});

Error wrong(std::string_view what) {
  return {Code::kInvalid, "not a vector: " + std::string(what)};
}

}  // namespace

std::string_view to_string(VectorKind kind) {
  for (const auto& [name, value] : kKinds) {
    if (value == kind) return name;
  }
  return "?";
}

std::string_view to_string(Protocol protocol) {
  for (const auto& [name, value] : kProtocols) {
    if (value == protocol) return name;
  }
  return "?";
}

std::optional<Protocol> find_protocol(std::string_view name) {
  for (const auto& [known, value] : kProtocols) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::string Vector::name() const {
  return id().empty() ? place_ : std::string(id()) + " (" + place_ + ")";
}

bool Vector::expects_something() const {
  if (expect() == JsonTape::kNone || tape().kind(expect()) != JsonKind::kObject) return false;
  bool any = false;
  tape().each(expect(), [&](std::string_view, Index) { any = true; });
  return any;
}

Result<Vector> Vector::parse(std::string_view json, Protocol protocol, std::string place) {
  auto document = JsonDocument::parse(json);
  if (!document) return wrong("it is no JSON: " + excerpt(json, 60));
  Vector vector(std::move(*document));
  vector.place_ = std::move(place);
  if (vector.tape().kind(JsonDocument::kRoot) != JsonKind::kObject) return wrong("no object");
  vector.protocol_ = protocol;
  // A body of Responses has an `input` too, but none has a `kind`.
  vector.plain_ = vector.root_member("kind") == JsonTape::kNone;
  if (vector.plain_) return vector;
  const std::string_view kind = vector.text_of(vector.root_member("kind"));
  const auto known = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const auto& row) { return row.first == kind; });
  if (known == kKinds.end()) return wrong("\"kind\" is '" + excerpt(kind, 20) + "'");
  vector.kind_ = known->second;
  const std::string_view name = vector.text_of(vector.root_member("protocol"));
  if (const auto own = find_protocol(name)) vector.protocol_ = *own;
  const bool needs_request = vector.kind_ != VectorKind::kTokenize;
  if (needs_request && !find_protocol(name)) {
    return wrong("\"protocol\" is '" + excerpt(name, 20) + "'");
  }
  const bool has_request =
      vector.input("request") != JsonTape::kNone || vector.input("request_text") != JsonTape::kNone;
  if (needs_request && !has_request) return wrong("no \"request\" in \"input\"");
  if (!needs_request && vector.input("text") == JsonTape::kNone) return wrong("no \"text\"");
  return vector;
}

Vector::Index Vector::root_member(std::string_view name) const {
  return plain_ ? JsonTape::kNone : tape().find(JsonDocument::kRoot, name);
}

Vector::Index Vector::input(std::string_view name) const {
  const Index input = root_member("input");
  return input == JsonTape::kNone ? input : tape().find(input, name);
}

std::string_view Vector::text_of(Index index) const {
  const bool text = index != JsonTape::kNone && tape().kind(index) == JsonKind::kString;
  return text ? tape().text(index) : std::string_view();
}

std::string Vector::body() const {
  const Index text = input("request_text");
  if (text != JsonTape::kNone) return std::string(text_of(text));
  std::string body;
  tape().print(plain_ ? JsonDocument::kRoot : input("request"), kCompactJson, body);
  return body;
}

std::string_view Vector::request_model() const {
  const Index request = plain_ ? JsonDocument::kRoot : input("request");
  if (request == JsonTape::kNone) return {};
  return text_of(tape().find(request, "model"));
}

namespace {

struct Value {
  std::string place;
  std::string json;
};

std::vector<Value> split(std::string_view text, const std::string& file) {
  std::vector<Value> values;
  if (const auto whole = JsonDocument::parse(text)) {
    const JsonTape& tape = whole->tape();
    if (tape.kind(JsonDocument::kRoot) != JsonKind::kArray) {
      const auto space = text.substr(0, text.find_first_not_of(" \t\r\n"));
      const auto line = std::count(space.begin(), space.end(), '\n') + 1;
      return {{file + ":" + std::to_string(line), std::string(text)}};
    }
    tape.each(JsonDocument::kRoot, [&](std::string_view, JsonTape::Index element) {
      values.push_back({file + "[" + std::to_string(values.size()) + "]", ""});
      tape.print(element, kCompactJson, values.back().json);
    });
    return values;
  }
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(row.size() + 1, text.size()));
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    values.push_back({file + ":" + std::to_string(line), std::string(row)});
  }
  return values;
}

}  // namespace

Result<std::vector<Vector>> read_vectors(std::string_view text, Protocol protocol,
                                         const std::string& file) {
  const auto values = split(text, file);
  if (values.empty()) {
    return Error{Code::kInvalid, file + ":1: expected a request or a vector, found none"};
  }
  std::vector<Vector> vectors;
  vectors.reserve(values.size());
  for (const auto& [place, json] : values) {
    auto vector = Vector::parse(json, protocol, place);
    if (!vector.ok()) return Error{Code::kInvalid, place + ": " + vector.error().message};
    vectors.push_back(std::move(*vector));
  }
  return vectors;
}

}  // namespace troupe
