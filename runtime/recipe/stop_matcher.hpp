// Finds the first of a few stop strings in text that arrives in pieces, without rescanning.
//
// Why: a stop string may begin in one token and end three tokens later. Text that could still turn
// out to be its beginning must not be sent; all other text must not wait.
//
// Rule: the match that ends earliest wins; of those that end at the same byte, the longest.
// Each string keeps its Knuth-Morris-Pratt state: the length of its longest prefix that the text
// seen so far ends with. Cost: O(strings) amortized a byte.
//
// Threads: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class StopMatcher {
 public:
  /// Requires: no string is empty.
  explicit StopMatcher(std::vector<std::string> strings);

  /// Takes the next byte of the text; true if a stop string ends with it.
  bool push(char byte);

  /// Bytes at the end of the text that may be the start of a stop string.
  std::size_t held() const { return held_; }

  /// The string that was found. Requires: push() has returned true.
  const std::string& found() const;

 private:
  struct Pattern {
    std::string text;
    std::vector<std::uint32_t> fallback;  // longest border of each prefix
    std::uint32_t matched = 0;
  };
  std::vector<Pattern> patterns_;
  std::size_t held_ = 0;
  const Pattern* found_ = nullptr;
};

}  // namespace troupe
