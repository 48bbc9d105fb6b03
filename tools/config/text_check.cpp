#include "tools/config/text_check.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/config/yaml_file.hpp"

namespace troupe::config {

namespace {

constexpr std::size_t kLargestFile = 256 * 1024;

// Length of the UTF-8 sequence at the start of `text`, 0 if it is malformed, too long a spelling,
// a surrogate or beyond U+10FFFF (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool is_too_low = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool is_too_high = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return is_too_low || is_too_high ? 0 : length;
}

const char* problem_with(std::string_view rest, bool is_indentation) {
  const auto byte = static_cast<std::uint8_t>(rest.front());
  if (byte == '\t' && is_indentation) return "expected spaces for indentation, found a tab";
  const bool is_space = byte == '\n' || byte == '\r' || byte == '\t';
  if ((byte < 0x20 && !is_space) || byte == 0x7f) return "found a control character";
  if (rest.substr(0, 3) == "\xef\xbb\xbf") return "found a byte order mark, save as plain UTF-8";
  return utf8_length(rest) == 0 ? "found bytes that are not UTF-8" : nullptr;
}

}  // namespace

Status check_text(std::string_view name, std::string_view text) {
  if (text.size() > kLargestFile) {
    return Error{Code::kTooLarge, std::string(name) + ": expected at most 256 KiB, found " +
                                      std::to_string(text.size()) + " bytes"};
  }
  Position position{1, 1};
  bool is_indentation = true;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (const char* problem = problem_with(rest, is_indentation)) {
      return Error{Code::kInvalid, at(name, position) + ": " + problem};
    }
    is_indentation = text[i] == '\n' || (is_indentation && text[i] == ' ');
    position = text[i] == '\n' ? Position{position.line + 1, 1}
                               : Position{position.line, position.column + 1};
    i += utf8_length(rest);
  }
  return ok_status();
}

}  // namespace troupe::config
