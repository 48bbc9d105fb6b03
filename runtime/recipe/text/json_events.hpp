// JSON text as a row of events, in one pass and without recursion (RapidJSON SAX, in place).
//
// Why: a request may be megabytes long and most of it ends up as a few strings. Events let each
// reader keep what it needs; nothing is built for the rest, and no nesting exhausts the stack.
//
// Strict JSON: valid UTF-8, no raw control characters, no NaN, no comments, one value and nothing
// behind it. An escaped half of a surrogate pair, a number beyond the doubles and nesting deeper
// than kJsonDepthMax are errors too (recipe SPEC 3: what the reference refuses).
//
// Ownership: the texts of events point into the JsonBuffer and live as long as it does, because
// strings are unescaped in place. Threads: plain values.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace troupe {

/// Containers within containers, the outermost included. 127: what the reference takes.
inline constexpr std::size_t kJsonDepthMax = 127;

/// Receives the events. Each method returns whether to go on.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;

  virtual bool null() = 0;
  virtual bool boolean(bool value) = 0;
  virtual bool number(std::string_view token) = 0;  ///< as spelled; its value is finite
  virtual bool string(std::string_view text) = 0;   ///< unescaped
  virtual bool key(std::string_view text) = 0;
  virtual bool begin_object() = 0;
  virtual bool end_object() = 0;
  virtual bool begin_array() = 0;
  virtual bool end_array() = 0;
};

/// A private copy of a JSON text, which parsing overwrites.
class JsonBuffer {
 public:
  explicit JsonBuffer(std::string_view text);

  char* data() { return bytes_.data(); }
  std::size_t size() const { return size_; }

 private:
  std::vector<char> bytes_;  // zeros follow the text: RapidJSON looks 16 bytes ahead
  std::size_t size_;
};

/// Sends the events of `buffer`, once. The error is kInvalid and says where; it is kCancelled if
/// `events` wanted no more.
Status parse_json_events(JsonBuffer& buffer, JsonEvents& events);

}  // namespace troupe
