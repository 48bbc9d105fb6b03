#include "runtime/recipe/request/responses_history.hpp"

#include "runtime/recipe/text/json_tape.hpp"

namespace troupe::recipe {
namespace {

constexpr std::string_view kPrevious = "previous_response_id";
constexpr auto kRoot = JsonDocument::kRoot;

bool is_object(const JsonDocument& document) {
  return document.tape().kind(kRoot) == JsonKind::kObject;
}

std::string elements(const JsonTape& tape, JsonTape::Index list) {
  std::string items;
  tape.each(list, [&](std::string_view, JsonTape::Index item) {
    if (!items.empty()) items += ',';
    tape.print(item, kCompactJson, items);
  });
  return items;
}

std::string input_items(const JsonTape& tape) {
  const auto input = tape.find(kRoot, "input");
  if (input == JsonTape::kNone) return {};
  if (tape.kind(input) == JsonKind::kArray) return elements(tape, input);
  if (tape.kind(input) != JsonKind::kString) return {};
  std::string item = R"({"type":"message","role":"user","content":[{"type":"input_text","text":)";
  append_json_string(item, tape.text(input));
  return item + "}]}";
}

}  // namespace

void append_items(std::string& items, std::string_view more) {
  if (!items.empty() && !more.empty()) items += ',';
  items += more;
}

std::optional<std::string> previous_response_of(std::string_view body) {
  // Most bodies say nothing of it; those are not parsed for it.
  if (body.find(kPrevious) == std::string_view::npos) return std::nullopt;
  const auto document = JsonDocument::parse(body);
  if (!document || !is_object(*document)) return std::nullopt;
  const auto at = document->tape().find(kRoot, kPrevious);
  if (at == JsonTape::kNone || document->tape().kind(at) != JsonKind::kString) return std::nullopt;
  const std::string_view id = document->tape().text(at);
  return id.empty() ? std::nullopt : std::optional(std::string(id));
}

std::optional<std::string> input_items_of(std::string_view body) {
  const auto document = JsonDocument::parse(body);
  if (!document || !is_object(*document)) return std::nullopt;
  return input_items(document->tape());
}

std::optional<std::string> output_items_of(std::string_view response) {
  const auto document = JsonDocument::parse(response);
  if (!document || !is_object(*document)) return std::nullopt;
  const auto output = document->tape().find(kRoot, "output");
  const bool list = output != JsonTape::kNone && document->tape().kind(output) == JsonKind::kArray;
  return list ? elements(document->tape(), output) : std::string();
}

std::optional<std::string> with_earlier_items(std::string_view body, std::string_view earlier) {
  const auto document = JsonDocument::parse(body);
  if (!document || !is_object(*document)) return std::nullopt;
  const JsonTape& tape = document->tape();
  std::string items(earlier);
  append_items(items, input_items(tape));
  std::string merged = "{\"input\":[" + items + ']';
  tape.each(kRoot, [&](std::string_view key, JsonTape::Index value) {
    if (key == "input" || key == kPrevious) return;
    merged += ',';
    append_json_string(merged, key);
    merged += ':';
    tape.print(value, kCompactJson, merged);
  });
  return merged + '}';
}

}  // namespace troupe::recipe
