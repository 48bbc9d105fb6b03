#include "runtime/recipe/tokenizer/spelling_set.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

SpellingSet::SpellingSet(std::vector<Spelling> spellings) : spellings_(std::move(spellings)) {
  std::erase_if(spellings_, [](const Spelling& spelling) { return spelling.text.empty(); });
  std::stable_sort(spellings_.begin(), spellings_.end(),
                   [](const Spelling& a, const Spelling& b) { return a.text < b.text; });
  for (const Spelling& spelling : spellings_) {
    starts_[static_cast<unsigned char>(spelling.text[0])] = true;
  }
}

std::optional<TokenId> SpellingSet::find(std::string_view spelling) const {
  const auto found =
      std::lower_bound(spellings_.begin(), spellings_.end(), spelling,
                       [](const Spelling& a, std::string_view wanted) { return a.text < wanted; });
  if (found == spellings_.end() || found->text != spelling) return std::nullopt;
  return found->id;
}

/// The longest spelling that text starts with, or null. Narrows the range of spellings that agree
/// with the text, one byte at a time.
const SpellingSet::Spelling* SpellingSet::longest_at(std::string_view text) const {
  const Spelling* found = nullptr;
  auto low = spellings_.begin();
  auto high = spellings_.end();
  for (std::size_t length = 1; length <= text.size() && low != high; ++length) {
    const auto byte = static_cast<unsigned char>(text[length - 1]);
    const auto at = [length](const Spelling& spelling) {
      const std::string& known = spelling.text;
      return known.size() < length ? -1 : static_cast<unsigned char>(known[length - 1]);
    };
    low = std::partition_point(low, high, [&](const Spelling& s) { return at(s) < byte; });
    high = std::partition_point(low, high, [&](const Spelling& s) { return at(s) <= byte; });
    if (low != high && low->text.size() == length) found = &*low;
  }
  return found;
}

std::optional<SpellingSet::Match> SpellingSet::find_next(std::string_view text,
                                                         std::size_t from) const {
  if (empty()) return std::nullopt;
  for (std::size_t at = from; at < text.size(); ++at) {
    if (!starts_[static_cast<unsigned char>(text[at])]) continue;
    const Spelling* found = longest_at(text.substr(at));
    if (found != nullptr) return Match{at, at + found->text.size(), found->id};
  }
  return std::nullopt;
}

}  // namespace troupe
