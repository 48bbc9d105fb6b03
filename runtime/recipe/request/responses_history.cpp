#include "runtime/recipe/request/responses_history.hpp"

#include "runtime/recipe/text/json_member.hpp"
#include "runtime/recipe/text/json_tape.hpp"

namespace troupe::recipe {
namespace {

constexpr std::string_view kPrevious = "previous_response_id";
constexpr auto kRoot = JsonDocument::kRoot;
constexpr std::string_view kSpace = " \n\r\t";

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

/// `text`: as JSON, with its quotes.
std::string text_item(std::string_view text) {
  std::string item = R"({"type":"message","role":"user","content":[{"type":"input_text","text":)";
  return item.append(text).append("}]}");
}

std::string input_items(const JsonTape& tape) {
  const auto input = tape.find(kRoot, "input");
  if (input == JsonTape::kNone) return {};
  if (tape.kind(input) == JsonKind::kArray) return elements(tape, input);
  if (tape.kind(input) != JsonKind::kString) return {};
  std::string text;
  append_json_string(text, tape.text(input));
  return text_item(text);
}

}  // namespace

void append_items(std::string& items, std::string_view more) {
  if (!items.empty() && !more.empty()) items += ',';
  items += more;
}

std::optional<std::string> previous_response_of(std::string_view body) {
  const auto value = json_member(body, kPrevious);
  if (!value || !value->starts_with('"')) return std::nullopt;
  const auto document = JsonDocument::parse(*value);
  if (!document) return std::nullopt;
  const std::string_view id = document->tape().text(kRoot);
  return id.empty() ? std::nullopt : std::optional(std::string(id));
}

std::string input_items_of(std::string_view body) {
  const auto input = json_member(body, "input");
  if (!input) return {};
  if (input->starts_with('[')) {
    std::string_view items = input->substr(1, input->size() - 2);
    const auto first = items.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return {};
    return std::string(items.substr(first, items.find_last_not_of(kSpace) + 1 - first));
  }
  if (!input->starts_with('"')) return {};
  return text_item(*input);
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
