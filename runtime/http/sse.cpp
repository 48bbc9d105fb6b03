#include "runtime/http/sse.hpp"

#include <algorithm>

namespace troupe::http {

Result<std::vector<SseEvent>> SseParser::feed(std::string_view bytes) {
  const Error too_long{Code::kTooLarge, "the server sent an event larger than " +
                                            std::to_string(event_bytes_max_) + " bytes"};
  if (failed_) return too_long;
  std::vector<SseEvent> events;
  while (!bytes.empty()) {
    if (after_cr_ && bytes[0] == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const auto end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    if (line_.size() + end + event_.data.size() > event_bytes_max_) {
      failed_ = true;
      return too_long;
    }
    line_.append(bytes.substr(0, end));
    if (end == bytes.size()) break;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    take_line(events);
  }
  return events;
}

void SseParser::take_line(std::vector<SseEvent>& events) {
  std::string_view line = line_;
  if (first_line_ && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  first_line_ = false;
  if (line.empty()) {
    if (has_data_) events.push_back(std::move(event_));
    event_ = SseEvent{};
    has_data_ = false;
  } else if (line[0] != ':') {
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (name == "data") {
      if (has_data_) event_.data += '\n';
      event_.data += value;
      has_data_ = true;
    } else if (name == "event") {
      event_.event = value.empty() ? "message" : std::string(value);
    }
  }
  line_.clear();
}

}  // namespace troupe::http
