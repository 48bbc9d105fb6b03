// UTF-8, one character at a time, from bytes that may be anything.
//
// A wrong sequence is one unit of its "maximal subpart" (Unicode 15, section 3.9, "U+FFFD
// Substitution of Maximal Subparts"): the longest start of a character that is there, or one byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

enum class Utf8State : std::uint8_t {
  kValid,
  kInvalid,
  kIncomplete,  ///< the text ends inside what may still become a character
};

struct Utf8Char {
  char32_t code = 0;       ///< only if valid
  std::uint8_t bytes = 1;  ///< that belong to it, 1 to 4
  Utf8State state = Utf8State::kValid;
};

/// The first character. Requires: !text.empty().
Utf8Char first_char(std::string_view text);

bool is_valid_utf8(std::string_view text);

/// Where the first byte lies that no text has: wrong UTF-8, or a control character other than tab
/// and line ends. Plain ASCII is passed eight bytes at a time.
std::optional<std::size_t> find_non_text(std::string_view text);

/// Requires: code is a Unicode scalar value.
void append_utf8(std::string& out, char32_t code);

/// U+FFFD, the sign that stands for bytes that are no character.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Appends `bytes` with wrong ones replaced, up to an unfinished character at the end unless
/// `at_end`. Returns how many of them that was.
std::size_t append_valid_utf8(std::string& out, std::string_view bytes, bool at_end);

/// At most `bytes_max` bytes of text for an error message: whole characters, wrong ones replaced,
/// control characters as '?', and "..." if something is left out.
std::string excerpt(std::string_view text, std::size_t bytes_max);

/// `text`, or its beginning, " ... " and its end, together at most `bytes_max` bytes: for a message
/// that quotes something long and then says what to do. Valid UTF-8 stays valid.
/// Requires: bytes_max >= 16.
std::string shortened(std::string text, std::size_t bytes_max);

}  // namespace troupe
