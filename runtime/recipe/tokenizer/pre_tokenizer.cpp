#include "runtime/recipe/tokenizer/pre_tokenizer.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <string>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

enum class CharClass : std::uint8_t { kLetter, kNumber, kSpace, kOther };

bool is_white_space(char32_t code) {
  if (code <= 0x20) return code == 0x20 || (code >= 0x09 && code <= 0x0D);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

CharClass class_of(char32_t code) {
  if (is_white_space(code)) return CharClass::kSpace;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharClass::kLetter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharClass::kNumber;
    default:
      return CharClass::kOther;
  }
}

struct Char {
  CharClass kind;
  std::size_t end;    // offset after it
  char32_t code = 0;  // 0 for bytes that are no character

  bool is_newline() const { return code == '\r' || code == '\n'; }
};

/// Requires: at < text.size().
Char char_at(std::string_view text, std::size_t at) {
  const Utf8Char found = first_char(text.substr(at));
  if (found.state != Utf8State::kValid) return {CharClass::kOther, at + found.bytes};
  return {class_of(found.code), at + found.bytes, found.code};
}

/// The end of the run of characters of one class that starts at `at`.
std::size_t run_end(std::string_view text, std::size_t at, CharClass kind) {
  while (at < text.size()) {
    const Char next = char_at(text, at);
    if (next.kind != kind) break;
    at = next.end;
  }
  return at;
}

/// Length of 's 't 're 've 'm 'll 'd at the start of text, or 0. In the case-insensitive form the
/// long s (U+017F) is an s, as Unicode case folding has it.
std::size_t contraction(std::string_view text, bool any_case) {
  if (text.size() < 2 || text[0] != '\'') return 0;
  const auto letter = [&](std::size_t i) {
    const char c = i < text.size() ? text[i] : '\0';
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  const char first = letter(1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  const char second = letter(2);
  if ((first == 'r' || first == 'v') && second == 'e') return 3;
  if (first == 'l' && second == 'l') return 3;
  return any_case && text.substr(1, 2) == "\xC5\xBF" ? 3 : 0;
}

/// \s+(?!\S)|\s+ : a run of spaces, without its last one if a word follows.
std::size_t spaces(std::string_view text) {
  std::size_t at = 0;
  std::size_t last = 0;
  while (at < text.size()) {
    const Char next = char_at(text, at);
    if (next.kind != CharClass::kSpace) return last > 0 ? last : at;
    last = at;
    at = next.end;
  }
  return at;
}

std::size_t gpt2_word(std::string_view text) {
  if (const std::size_t length = contraction(text, false)) return length;
  Char first = char_at(text, 0);
  if (first.code == ' ' && first.end < text.size()) {
    const Char second = char_at(text, first.end);
    if (second.kind != CharClass::kSpace) first = second;
  }
  if (first.kind == CharClass::kSpace) return spaces(text);
  return run_end(text, first.end, first.kind);
}

std::size_t smollm_word(std::string_view text) {
  const Char first = char_at(text, 0);
  if (first.kind == CharClass::kNumber) return first.end;
  if (first.kind == CharClass::kSpace) {
    // A number ends the text as gpt-2 sees it: the spaces before it are one word.
    const std::size_t end = run_end(text, 0, CharClass::kSpace);
    if (end < text.size() && char_at(text, end).kind == CharClass::kNumber) return end;
  }
  return gpt2_word(text);
}

/// \s*[\r\n]+|\s+(?!\S)|\s+ : up to the last line end of the run, if there is one.
std::size_t spaces_by_line(std::string_view text) {
  std::size_t at = 0;
  std::size_t after_line = 0;
  while (at < text.size()) {
    const Char next = char_at(text, at);
    if (next.kind != CharClass::kSpace) break;
    at = next.end;
    if (next.is_newline()) after_line = at;
  }
  return after_line > 0 ? after_line : spaces(text);
}

template <int kDigitsMax>
std::size_t llama_word(std::string_view text) {
  if (const std::size_t length = contraction(text, true)) return length;
  const Char first = char_at(text, 0);
  if (first.kind == CharClass::kLetter) return run_end(text, first.end, CharClass::kLetter);
  if (first.kind == CharClass::kNumber) {
    std::size_t end = first.end;
    for (int digits = 1; digits < kDigitsMax && end < text.size(); ++digits) {
      const Char next = char_at(text, end);
      if (next.kind != CharClass::kNumber) break;
      end = next.end;
    }
    return end;
  }
  const bool more = first.end < text.size();
  const Char second = more ? char_at(text, first.end) : first;
  if (more && !first.is_newline() && second.kind == CharClass::kLetter) {
    return run_end(text, second.end, CharClass::kLetter);
  }
  const bool spaced = more && first.code == ' ' && second.kind == CharClass::kOther;
  if (first.kind == CharClass::kSpace && !spaced) return spaces_by_line(text);
  std::size_t end = run_end(text, first.end, CharClass::kOther);
  while (end < text.size() && (text[end] == '\r' || text[end] == '\n')) ++end;
  return end;
}

struct Named {
  std::string_view name;
  PreTokenizer split;
};

constexpr PreTokenizer kGpt2{gpt2_word, false};
constexpr PreTokenizer kSmollm{smollm_word, false};
constexpr PreTokenizer kLlama{llama_word<3>, true};
constexpr PreTokenizer kQwen2{llama_word<1>, false};

/// Names on one line share their expression.
constexpr std::array kKnown = std::to_array<Named>({
    {"gpt-2", kGpt2},
    {"default", kGpt2},
    {"phi-2", kGpt2},
    {"smollm", kSmollm},
    {"starcoder", kSmollm},
    {"refact", kSmollm},
    {"llama-bpe", kLlama},
    {"llama3", kLlama},
    {"llama-v3", kLlama},
    {"qwen2", kQwen2},
    {"deepseek-r1-qwen", kQwen2},
});

}  // namespace

Result<PreTokenizer> find_pre_tokenizer(std::string_view name) {
  const auto found = std::find_if(kKnown.begin(), kKnown.end(),
                                  [&](const Named& known) { return known.name == name; });
  if (found != kKnown.end()) return found->split;
  std::string message = "the pre-tokenizer \"" + excerpt(name, 64) + "\" is not known; known are";
  for (const Named& known : kKnown) message.append(" ").append(known.name);
  return Error{Code::kUnsupported, message};
}

}  // namespace troupe
