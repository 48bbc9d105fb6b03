#include "runtime/recipe/tokenizer/deepseek_words.hpp"

#include "runtime/recipe/tokenizer/char_class.hpp"

namespace troupe {
namespace {

constexpr CharClasses kWord = kLetter | kMark;

/// A piece of the first two splits, kCjk or not, that starts where the text does. It ends where
/// at() says so, with a character of no class.
template <bool kCjk>
class Piece {
 public:
  explicit Piece(std::string_view text) : text_(text) {}

  Char at(std::size_t place) const {
    if (place >= text_.size()) return {.end = place};
    const Char next = char_at(text_, place);
    const bool inside = !next.is(kNumber) && is_deepseek_cjk(next.code) == kCjk;
    return inside ? next : Char{.end = place};
  }

  std::size_t run(std::size_t place, CharClasses classes) const {
    while (true) {
      const Char next = at(place);
      if (!next.is(classes)) return place;
      place = next.end;
    }
  }

  /// [\p{P}\p{S}]+[\r\n]*, from its second character on.
  std::size_t signs(std::size_t place) const {
    place = run(place, kSign);
    while (at(place).is_newline()) place = at(place).end;
    return place;
  }

  std::size_t ascii_letters(std::size_t place) const {
    while (place < text_.size() && static_cast<unsigned char>(text_[place]) < 0x80 &&
           char_at(text_, place).is(kLetter)) {
      ++place;
    }
    return place;
  }

  /// \s*[\r\n]+|\s+(?!\S)|\s+
  std::size_t spaces() const {
    std::size_t after_line = 0;
    std::size_t last = 0;
    Char next = at(0);
    std::size_t end = 0;
    for (; next.is(kSpace); next = at(end)) {
      last = end;
      end = next.end;
      if (next.is_newline()) after_line = end;
    }
    if (after_line > 0) return after_line;
    const bool word_follows = next.kind != 0;
    return word_follows && last > 0 ? last : end;
  }

  /// What no alternative matches, up to a character that one does. Requires: it starts here.
  std::size_t leftovers() const {
    std::size_t end = at(0).end;
    for (Char next = at(end); next.is(kOther); next = at(end)) {
      if (at(next.end).is(kWord)) break;
      end = next.end;
    }
    return end;
  }

  std::size_t word() const {
    const Char first = at(0);
    if (first.is(kWord)) return run(first.end, kWord);
    if (first.is(kSign)) {
      const std::size_t letters = first.code < 0x80 ? ascii_letters(first.end) : first.end;
      return letters > first.end ? letters : signs(first.end);
    }
    const Char second = at(first.end);
    if (second.is(kWord) && !first.is_newline()) return run(second.end, kWord);
    if (second.is(kSign) && first.code == ' ') return signs(second.end);
    return first.is(kSpace) ? spaces() : leftovers();
  }

 private:
  std::string_view text_;
};

}  // namespace

std::size_t deepseek_word(std::string_view text) {
  const Char first = char_at(text, 0);
  if (is_deepseek_cjk(first.code)) return Piece<true>(text).word();
  if (!first.is(kNumber)) return Piece<false>(text).word();
  std::size_t end = first.end;
  for (int digits = 1; digits < 3 && end < text.size(); ++digits) {
    const Char next = char_at(text, end);
    if (!next.is(kNumber)) break;
    end = next.end;
  }
  return end;
}

}  // namespace troupe
