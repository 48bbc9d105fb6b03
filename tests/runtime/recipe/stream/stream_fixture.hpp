// What the tests of streams share: events as text, engines as lists of chunks, and a small
// tokenizer that has the two symbols.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/recipe/stream/stream_processor.hpp"
#include "runtime/recipe/text/json_reprint.hpp"

namespace troupe::recipe::test {

struct Event {
  std::string name;
  std::string json;

  friend bool operator==(const Event&, const Event&) = default;
};

class EventList final : public EventSink {
 public:
  void event(std::string_view name, std::string_view json) override {
    events.push_back({std::string(name), std::string(json)});
  }
  std::vector<Event> take() { return std::exchange(events, {}); }

  std::vector<Event> events;
};

/// The random tail of each call id as '*', as in the vectors.
inline std::string without_tails(std::string text) {
  static constexpr std::string_view kHead = "call_";
  for (std::size_t at = text.find(kHead); at != std::string::npos; at = text.find(kHead, at + 1)) {
    std::size_t tail = text.find_first_not_of("0123456789", at + kHead.size());
    if (tail == std::string::npos || text[tail] != '_') continue;
    ++tail;
    if (text.compare(tail, 3, "ET_") == 0) tail += 3;
    const std::size_t end = text.find('"', tail);
    if (end != tail + 24) continue;
    text.replace(tail, 24, "*");
  }
  return text;
}

/// The same JSON in one form, so that equal values are equal texts; "" if it is not JSON.
inline std::string normal_json(std::string_view json) {
  std::string out;
  return reprint_json(json, kCompactJson, out) ? out : "";
}

}  // namespace troupe::recipe::test
