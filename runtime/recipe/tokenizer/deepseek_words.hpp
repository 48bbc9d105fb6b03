// The words of DeepSeek's tokenizers (V3 to V4.1), SPEC section 2.
//
// The file splits three times, each time within the pieces of the split before, and what a split
// does not match is a piece too:
//   1. \p{N}{1,3}
//   2. [一-龥぀-ゟ゠-ヿ]+
//   3. [!-/:-~][A-Za-z]+ (ASCII punctuation)|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
//       ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
// Here it is one pass: a piece of the first two splits ends where a number begins or where
// ideographs and kana (step 2) begin or end, and the third expression sees that as the end of the
// text. What the third leaves over are characters of none of its classes (control, unassigned)
// that no letter follows.
#pragma once

#include <cstddef>
#include <string_view>

namespace troupe {

/// The length of the first word. Requires: !text.empty().
std::size_t deepseek_word(std::string_view text);

/// A character of the second split.
constexpr bool is_deepseek_cjk(char32_t code) {
  return (code >= 0x4E00 && code <= 0x9FA5) || (code >= 0x3040 && code <= 0x30FF);
}

}  // namespace troupe
