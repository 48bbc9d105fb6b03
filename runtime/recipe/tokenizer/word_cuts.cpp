#include "runtime/recipe/tokenizer/word_cuts.hpp"

#include <algorithm>

#include "runtime/recipe/tokenizer/deepseek_words.hpp"

namespace troupe {
namespace {

constexpr std::size_t kCharBytesMax = 4;

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

/// A byte that can only go on a character, never begin one.
bool goes_on(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Is it a character, not bytes that are none?
bool is_whole(std::string_view text, const Char& found, std::size_t at) {
  return is_ascii(text[at]) || found.code != 0;
}

/// Requires: at is not 0 and a byte that begins a character stands there.
bool may_cut(std::string_view text, std::size_t at, CutRule rule, bool ascii_only) {
  if (ascii_only && !(is_ascii(text[at]) && is_ascii(text[at - 1]))) return false;
  std::size_t begin = at - 1;
  const std::size_t first = at - std::min(at, kCharBytesMax);
  while (begin > first && goes_on(text[begin])) --begin;
  const Char before = char_at(text, begin);
  if (before.end != at || !is_whole(text, before, begin)) return false;
  const Char after = char_at(text, at);
  return is_whole(text, after, at) && rule(before, after);
}

bool begins_space(const Char& before, const Char& after) {
  return after.is(kSpace) && !after.is_newline() && !before.is(kSpace);
}

}  // namespace

bool cuts_words(const Char& before, const Char& after) {
  if (before.is(kLetter)) return !after.is(kLetter);
  if (before.is(kNumber)) return !after.is(kNumber);
  return begins_space(before, after);
}

bool cuts_deepseek(const Char& before, const Char& after) {
  if (is_deepseek_cjk(before.code) != is_deepseek_cjk(after.code)) return true;
  if (before.is(kNumber) != after.is(kNumber)) return true;
  if (before.is(kLetter | kMark)) return !after.is(kLetter | kMark);
  return begins_space(before, after);
}

std::size_t next_cut(std::string_view text, std::size_t from, CutRule rule, bool ascii_only) {
  for (std::size_t at = std::max<std::size_t>(from, 1); at < text.size(); ++at) {
    if (!goes_on(text[at]) && may_cut(text, at, rule, ascii_only)) return at;
  }
  return text.size();
}

}  // namespace troupe
