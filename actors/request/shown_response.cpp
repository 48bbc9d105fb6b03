#include "actors/request/shown_response.hpp"

#include <algorithm>
#include <charconv>

#include "actors/gateway/routes.hpp"
#include "runtime/base/assert.hpp"
#include "runtime/recipe/text/json_tape.hpp"
#include "runtime/recipe/text/json_writer.hpp"

namespace troupe {

namespace {

constexpr std::uint32_t kLimitMax = 100;
constexpr auto kNone = JsonTape::kNone;

ApiError wrong(const char* param, std::string message) {
  return {400, "invalid_request_error", param, "invalid_value", std::move(message)};
}

/// The decoded value of a parameter, the last of several; empty: it is not there.
std::string parameter(std::string_view query, std::string_view name) {
  std::string value;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
    value = percent_decoded(pair.substr(equals + 1)).value_or("%");
  }
  return value;
}

struct Item {
  std::string id;
  std::string json;
};

/// A message's content as a list of parts.
void append_content(std::string& out, const JsonTape& tape, JsonTape::Index content,
                    bool assistant) {
  if (tape.kind(content) != JsonKind::kString) return tape.print(content, kCompactJson, out);
  out += assistant ? R"([{"type":"output_text","annotations":[],"text":)"
                   : R"([{"type":"input_text","text":)";
  append_json_string(out, tape.text(content));
  out += "}]";
}

Item shown(const JsonTape& tape, JsonTape::Index at, const std::string& made_id) {
  Item item;
  const auto id = tape.find(at, "id");
  const bool named = id != kNone && tape.kind(id) == JsonKind::kString;
  item.id = named ? std::string(tape.text(id)) : made_id;
  item.json = "{\"id\":";
  append_json_string(item.json, item.id);
  if (tape.find(at, "type") == kNone) item.json += R"(,"type":"message")";
  const auto role = tape.find(at, "role");
  const bool assistant = role != kNone && tape.text(role) == "assistant";
  tape.each(at, [&](std::string_view key, JsonTape::Index value) {
    if (key == "id") return;
    item.json += ',';
    append_json_string(item.json, key);
    item.json += ':';
    if (key == "content" && role != kNone) {
      append_content(item.json, tape, value, assistant);
    } else {
      tape.print(value, kCompactJson, item.json);
    }
  });
  item.json += '}';
  return item;
}

std::vector<Item> items_of(const StoredResponse& response) {
  std::vector<Item> items;
  const auto document = JsonDocument::parse("[" + response.input + "]");
  if (!document) return items;
  const JsonTape& tape = document->tape();
  tape.each(JsonDocument::kRoot, [&](std::string_view, JsonTape::Index at) {
    if (tape.kind(at) != JsonKind::kObject) return;
    const std::string made = "item_" + std::to_string(items.size()) + "_" + response.id;
    items.push_back(shown(tape, at, made));
  });
  return items;
}

Prepared answer(std::uint16_t status, std::string body) {
  Prepared prepared;
  prepared.reply_status = status;
  prepared.reply_body = std::move(body);
  return prepared;
}

}  // namespace

std::variant<ShownItems, ApiError> read_shown(std::string_view query, bool input_items) {
  ShownItems shown;
  if (!input_items) {
    const std::string stream = parameter(query, "stream");
    if (stream.empty() || stream == "false") return shown;
    return ApiError{400, "invalid_request_error", "stream", "unsupported_parameter",
                    "a kept response is not streamed again: leave 'stream' out"};
  }
  const std::string limit = parameter(query, "limit");
  if (!limit.empty()) {
    const auto [end, problem] =
        std::from_chars(limit.data(), limit.data() + limit.size(), shown.limit);
    const bool whole = problem == std::errc() && end == limit.data() + limit.size();
    if (!whole || shown.limit == 0 || shown.limit > kLimitMax) {
      return wrong("limit", "'limit' must be a whole number from 1 to 100");
    }
  }
  const std::string order = parameter(query, "order");
  if (!order.empty() && order != "asc" && order != "desc") {
    return wrong("order", "'order' must be asc or desc");
  }
  shown.ascending = order == "asc";
  shown.after = parameter(query, "after");
  return shown;
}

Prepared input_items_answer(const StoredResponse& response, std::string_view query) {
  const auto read = read_shown(query, true);
  TROUPE_ASSERT(std::holds_alternative<ShownItems>(read), "the query was taken before");
  const auto& wanted = std::get<ShownItems>(read);
  std::vector<Item> items = items_of(response);
  if (!wanted.ascending) std::reverse(items.begin(), items.end());
  auto first = items.begin();
  if (!wanted.after.empty()) {
    first = std::find_if(items.begin(), items.end(),
                         [&](const Item& item) { return item.id == wanted.after; });
    if (first == items.end()) {
      const ApiError error = wrong("after", "'after' names no item of this response");
      Prepared refused = answer(400, error_body(error));
      refused.reply_code = error.code;
      return refused;
    }
    ++first;
  }
  const auto left = static_cast<std::size_t>(items.end() - first);
  const auto last = first + static_cast<std::ptrdiff_t>(std::min<std::size_t>(left, wanted.limit));
  std::string body = R"({"object":"list","data":[)";
  for (auto item = first; item != last; ++item) {
    if (item != first) body += ',';
    body += item->json;
  }
  JsonWriter ends;
  ends.open_object();
  ends.key("first_id").text_or_null(first == last ? "" : first->id);
  ends.key("last_id").text_or_null(first == last ? "" : std::prev(last)->id);
  ends.key("has_more").boolean(last != items.end());
  ends.close_object();
  return answer(200, body + "]," + ends.take().substr(1));
}

}  // namespace troupe
