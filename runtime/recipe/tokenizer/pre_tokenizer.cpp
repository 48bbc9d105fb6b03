#include "runtime/recipe/tokenizer/pre_tokenizer.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "runtime/recipe/text/utf8.hpp"
#include "runtime/recipe/tokenizer/char_class.hpp"
#include "runtime/recipe/tokenizer/deepseek_words.hpp"

namespace troupe {
namespace {

/// [^\s\p{L}\p{N}]
constexpr CharClasses kRest = kMark | kSign | kOther;

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
    if (!next.is(kSpace)) return last > 0 ? last : at;
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
    if (!second.is(kSpace)) first = second;
  }
  if (first.is(kSpace)) return spaces(text);
  return run_end(text, first.end, first.is(kRest) ? kRest : first.kind);
}

std::size_t smollm_word(std::string_view text) {
  const Char first = char_at(text, 0);
  if (first.is(kNumber)) return first.end;
  if (first.is(kSpace)) {
    // A number ends the text as gpt-2 sees it: the spaces before it are one word.
    const std::size_t end = run_end(text, 0, kSpace);
    if (end < text.size() && char_at(text, end).is(kNumber)) return end;
  }
  return gpt2_word(text);
}

/// \s*[\r\n]+|\s+(?!\S)|\s+ : up to the last line end of the run, if there is one.
std::size_t spaces_by_line(std::string_view text) {
  std::size_t at = 0;
  std::size_t after_line = 0;
  while (at < text.size()) {
    const Char next = char_at(text, at);
    if (!next.is(kSpace)) break;
    at = next.end;
    if (next.is_newline()) after_line = at;
  }
  return after_line > 0 ? after_line : spaces(text);
}

template <int kDigitsMax>
std::size_t llama_word(std::string_view text) {
  if (const std::size_t length = contraction(text, true)) return length;
  const Char first = char_at(text, 0);
  if (first.is(kLetter)) return run_end(text, first.end, kLetter);
  if (first.is(kNumber)) {
    std::size_t end = first.end;
    for (int digits = 1; digits < kDigitsMax && end < text.size(); ++digits) {
      const Char next = char_at(text, end);
      if (!next.is(kNumber)) break;
      end = next.end;
    }
    return end;
  }
  const bool more = first.end < text.size();
  const Char second = more ? char_at(text, first.end) : first;
  if (more && !first.is_newline() && second.is(kLetter)) {
    return run_end(text, second.end, kLetter);
  }
  const bool spaced = more && first.code == ' ' && second.is(kRest);
  if (first.is(kSpace) && !spaced) return spaces_by_line(text);
  std::size_t end = run_end(text, first.end, kRest);
  while (end < text.size() && (text[end] == '\r' || text[end] == '\n')) ++end;
  return end;
}

struct Named {
  std::string_view name;
  PreTokenizer split;
};

constexpr PreTokenizer kGpt2{gpt2_word, cuts_words, false};
constexpr PreTokenizer kSmollm{smollm_word, cuts_words, false};
constexpr PreTokenizer kLlama{llama_word<3>, cuts_words, true};
constexpr PreTokenizer kQwen2{llama_word<1>, cuts_words, false};
constexpr PreTokenizer kDeepseek{deepseek_word, cuts_deepseek, false};

/// Names on one line share their expression.
constexpr std::array kSplits = std::to_array<Named>({
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
    {"deepseek-v3", kDeepseek},
});

}  // namespace

Result<PreTokenizer> find_pre_tokenizer(std::string_view name) {
  const auto found = std::find_if(kSplits.begin(), kSplits.end(),
                                  [&](const Named& known) { return known.name == name; });
  if (found != kSplits.end()) return found->split;
  std::string message = "the pre-tokenizer \"" + excerpt(name, 64) + "\" is not known; known are";
  for (const Named& known : kSplits) message.append(" ").append(known.name);
  return Error{Code::kUnsupported, message};
}

}  // namespace troupe
