// Random texts that are hard for a tokenizer: every class of characters, often next to each other
// in orders that nobody writes, and bytes that are no characters.
#pragma once

#include <string>

#include "runtime/base/rng.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe::test {

/// A text of `units` characters or short words.
inline std::string nasty_text(Rng& rng, std::size_t units) {
  static constexpr const char* kUnits[] = {
      "a",  "b",  "Z",      "the",    "'s",     "'RE",     "'",      "1",      "23",      "4567",
      " ",  "  ", "   ",    "\t",     "\n",     "\r\n",    "\n\n",   ".",      ",",       "!?",
      "<",  ">",  "_",      "|",      "中",     "文字",    "。",     "，",     "カ",      "ー",
      "・", "゠", "\u3040", "゛",     "é",      "e\u0301", "\u0301", "ſ",      "½",       "Ⅷ",
      "٣",  "０", "\u00A0", "\u3000", "\u2028", "\u0085",  "\u200B", "\u200D", "🚢",       "👩",
      "…",  "€",  "\x01",   "\x7F",   "\u0378", "각",      "\u1100", "\u1161", "</think>"};
  static constexpr const char* kWrong[] = {"\xFF", "\xC3",     "\xE4\xB8", "\xF0\x9F\x9A",
                                           "\x80", "\x80\xBF", "\xED\xA0", "\xC0\x80"};
  std::string text;
  // Some texts dwell on few units, so that long runs and repeats of them come up.
  const std::uint64_t variety = rng.chance(0.5) ? std::size(kUnits) : 1 + rng.below(4);
  const std::uint64_t first = rng.below(std::size(kUnits));
  for (std::size_t i = 0; i < units; ++i) {
    if (rng.chance(0.03)) {
      text += kWrong[rng.below(std::size(kWrong))];
    } else if (rng.chance(0.04)) {
      append_utf8(text, static_cast<char32_t>(0x20 + rng.below(0xD7E0)));
    } else if (rng.chance(0.02)) {
      text += '\0';
    } else {
      text += kUnits[(first + rng.below(variety)) % std::size(kUnits)];
    }
  }
  return text;
}

}  // namespace troupe::test
