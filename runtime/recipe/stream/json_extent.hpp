// Finds where a JSON object or array ends, byte by byte: the bracket that closes the first one.
// Wrong JSON may never end. Threads: one owner.
#pragma once

#include <cstdint>

namespace troupe::recipe {

class JsonExtent {
 public:
  void restart() { *this = {}; }

  /// Takes the next byte; true if it closes the outermost bracket.
  bool push(char byte) {
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (byte == '\\') {
        escaped_ = true;
      } else if (byte == '"') {
        in_string_ = false;
      }
      return false;
    }
    if (byte == '"') in_string_ = true;
    if (byte == '{' || byte == '[') ++depth_;
    if (byte == '}' || byte == ']') return depth_ > 0 && --depth_ == 0;
    return false;
  }

 private:
  std::uint64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace troupe::recipe
