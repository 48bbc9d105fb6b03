// Writes one JSON value into a string: always valid UTF-8, always on one line.
//
// Why not RapidJSON's writer: it fails on wrong UTF-8 and on NaN and leaves half a document behind.
// What we send must be valid whatever a model or a client said: wrong bytes become U+FFFD, numbers
// that JSON does not have become null.
//
// Use: json.open_object(); json.key("id").text(id); json.close_object(); json.take().
// Commas are set by the writer. Requires: keys inside objects only, balanced open and close.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

class JsonWriter {
 public:
  JsonWriter& open_object() { return open('{'); }
  JsonWriter& close_object() { return close('}'); }
  JsonWriter& open_array() { return open('['); }
  JsonWriter& close_array() { return close(']'); }

  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& text_or_null(std::string_view value);  ///< null if empty
  JsonWriter& number(std::int64_t value);
  JsonWriter& number(std::uint64_t value);
  JsonWriter& real(double value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();

  /// Bytes so far.
  std::size_t size() const { return out_.size(); }
  /// The finished document; the writer is empty after it.
  std::string take();

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  std::string out_;
  bool comma_ = false;  // the next value needs a comma before it
};

}  // namespace troupe
