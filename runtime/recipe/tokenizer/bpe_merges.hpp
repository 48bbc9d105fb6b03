// Byte-pair merging: from the bytes of a word to the ids of its tokens.
//
// A merge joins two neighbouring tokens into one; of all that apply, the one with the lowest rank
// goes first, of equals the leftmost. Short words are merged by looking for the minimum, long ones
// with a heap over a linked list, so a word of n bytes costs O(n log n): a megabyte of "a" is
// encoded in well under a second.
//
// Threads: immutable after building; share it freely.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/strong.hpp"

namespace troupe {

class BpeMerges {
 public:
  struct Merge {
    TokenId left;
    TokenId right;
    TokenId joined;
  };

  /// The rank of a merge is its place in the list; of equal pairs the first counts.
  explicit BpeMerges(std::span<const Merge> merges);

  /// Merges `symbols` in place until nothing applies.
  void apply(std::vector<TokenId>& symbols) const;

 private:
  static constexpr std::uint32_t kNoRank = ~0u;
  struct Slot {
    std::uint64_t pair = 0;
    std::uint32_t rank = kNoRank;  // kNoRank: the slot is free
    TokenId joined;
  };

  static std::uint64_t pair_of(TokenId left, TokenId right);
  const Slot& find(TokenId left, TokenId right) const;
  void apply_short(std::vector<TokenId>& symbols) const;
  void apply_long(std::vector<TokenId>& symbols) const;

  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
};

}  // namespace troupe
