// Server-sent events, the receiving side: bytes → events. Pure.
//
// Follows the WHATWG rules: lines end in LF, CRLF or CR; `data:` lines of one event are joined by
// LF; a line that begins with a colon is a comment; an event without data is not delivered; a byte
// order mark at the start is dropped. What comes after the last empty line is not an event.
//
// Invariants: (1) the events do not depend on how the bytes were split; (2) no more than
// `event_bytes_max` is held; a longer line or event is an error, after which feed() takes nothing.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace troupe::http {

struct SseEvent {
  std::string event = "message";  ///< the `event:` field
  std::string data;

  friend bool operator==(const SseEvent&, const SseEvent&) = default;
};

class SseParser {
 public:
  static constexpr std::size_t kEventBytesMax = 4 * 1024 * 1024;

  explicit SseParser(std::size_t event_bytes_max = kEventBytesMax)
      : event_bytes_max_(event_bytes_max) {}

  /// The events that these bytes complete.
  Result<std::vector<SseEvent>> feed(std::string_view bytes);

 private:
  void take_line(std::vector<SseEvent>& events);

  std::size_t event_bytes_max_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool after_cr_ = false;  ///< a LF that follows belongs to the same line end
  bool first_line_ = true;
  bool failed_ = false;
};

}  // namespace troupe::http
