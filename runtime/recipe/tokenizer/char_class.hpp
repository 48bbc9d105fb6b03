// What kind of character stands at a place of a text, as the pre-tokenizers need to know it.
//
// Classes are the general categories of Unicode 16: those of utf8proc, which may be older, and a
// table of what came later. The tokenizers that we are compared with have that version. \s is the
// property White_Space. A byte that belongs to no character is a character of its own, of the class
// kOther. ASCII takes a table, as most of what models read is ASCII.
//
// Threads: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace troupe {

/// A set of classes: one bit each.
using CharClasses = std::uint8_t;

inline constexpr CharClasses kLetter = 1;  ///< \p{L}
inline constexpr CharClasses kMark = 2;    ///< \p{M}
inline constexpr CharClasses kNumber = 4;  ///< \p{N}
inline constexpr CharClasses kSign = 8;    ///< \p{P} and \p{S}
inline constexpr CharClasses kSpace = 16;  ///< \s, also those of it that are control characters
inline constexpr CharClasses kOther = 32;  ///< the rest

struct Char {
  CharClasses kind = 0;  ///< one class; none stands for the end of the text
  char32_t code = 0;     ///< 0 for bytes that are no character
  std::size_t end = 0;   ///< offset after it

  bool is(CharClasses classes) const { return (kind & classes) != 0; }
  bool is_newline() const { return code == '\r' || code == '\n'; }
};

inline constexpr std::array<CharClasses, 128> kAsciiClasses = [] {
  std::array<CharClasses, 128> table{};
  for (unsigned c = 0; c < table.size(); ++c) {
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    const bool number = c >= '0' && c <= '9';
    const bool control = c < ' ' || c == 0x7F;
    table[c] = letter ? kLetter : space ? kSpace : number ? kNumber : control ? kOther : kSign;
  }
  return table;
}();

/// The class of a character that Unicode 15 does not know: kOther if 16 does not either.
CharClasses later_class_of(char32_t code);

/// As char_at(), for a character that is not ASCII.
Char wide_char_at(std::string_view text, std::size_t at);

/// Requires: at < text.size().
inline Char char_at(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {kAsciiClasses[byte], byte, at + 1};
  return wide_char_at(text, at);
}

/// The end of the run of characters of these classes that starts at `at`.
inline std::size_t run_end(std::string_view text, std::size_t at, CharClasses classes) {
  while (at < text.size()) {
    const Char next = char_at(text, at);
    if (!next.is(classes)) break;
    at = next.end;
  }
  return at;
}

}  // namespace troupe
