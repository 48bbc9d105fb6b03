#include "runtime/recipe/tokenizer/char_class.hpp"

#include <utf8proc.h>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

/// White_Space beyond ASCII.
bool is_wide_space(char32_t code) {
  if (code < 0x1680) return code == 0x85 || code == 0xA0;
  return code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

CharClasses class_of(char32_t code) {
  // The ideographs of Unicode 1 are all letters: most of Chinese text need not ask the table.
  if (code >= 0x4E00 && code <= 0x9FA5) return kLetter;
  if (is_wide_space(code)) return kSpace;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kLetter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return kMark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return kSign;
    case UTF8PROC_CATEGORY_CN:
      return later_class_of(code);
    default:
      return kOther;
  }
}

}  // namespace

Char wide_char_at(std::string_view text, std::size_t at) {
  const Utf8Char found = first_char(text.substr(at));
  if (found.state != Utf8State::kValid) return {kOther, 0, at + found.bytes};
  return {class_of(found.code), found.code, at + found.bytes};
}

}  // namespace troupe
