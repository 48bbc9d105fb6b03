// Finds the first of a few stop strings in text that arrives byte by byte, without rescanning.
//
// Why: a stop string may begin in one token and end three tokens later. Text that could still turn
// out to be its beginning must not be sent; all other text must not wait.
//
// Rule: the match that ends earliest wins. Of those that end at the same byte, the longest, or in
// Compat::kDeepseek the first of the list (recipe SPEC 5.2).
// Each string keeps its Knuth-Morris-Pratt state: the length of its longest prefix that the text
// seen so far ends with. Cost: O(strings) amortized a byte.
//
// Threads: one owner.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe::recipe {

class StopStrings {
 public:
  /// Requires: no string is empty.
  StopStrings(const std::vector<std::string>& strings, Compat compat);

  bool empty() const { return patterns_.empty(); }
  /// Forgets the text so far.
  void restart();
  /// Takes the next byte; the stop string that ends with it, or null.
  const std::string* push(char byte);
  /// Bytes at the end of the text that may begin a stop string.
  std::size_t partial() const { return partial_; }
  /// Adds the bytes that a stop string begins with.
  void add_first_bytes(std::bitset<256>& bytes) const;

 private:
  struct Pattern {
    std::string text;
    std::vector<std::uint32_t> border;  // longest border of each prefix
    std::uint32_t matched = 0;
  };
  std::vector<Pattern> patterns_;
  std::size_t partial_ = 0;
  bool longest_;
};

}  // namespace troupe::recipe
