// Spellings of added tokens, and where they occur in a text: at each place the longest, from the
// left, as tokenizers of the Hugging Face format look for them.
//
// Threads: immutable after building. Cost of find_next(): O(bytes up to the find), times the log of
// the set where a byte starts some spelling.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/strong.hpp"

namespace troupe {

class SpellingSet {
 public:
  struct Spelling {
    std::string text;
    TokenId id;
  };
  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
    TokenId id{0};
  };

  SpellingSet() = default;
  /// Empty spellings are left out; of equal ones the first counts.
  explicit SpellingSet(std::vector<Spelling> spellings);

  bool empty() const { return spellings_.empty(); }

  std::optional<TokenId> find(std::string_view spelling) const;

  /// The first place at or after `from` where a spelling starts, and the longest that does.
  std::optional<Match> find_next(std::string_view text, std::size_t from) const;

 private:
  const Spelling* longest_at(std::string_view text) const;

  std::vector<Spelling> spellings_;  // by text
  bool starts_[256] = {};            // first bytes
};

}  // namespace troupe
