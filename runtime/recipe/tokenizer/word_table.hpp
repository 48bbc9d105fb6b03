// Words whose whole encoding is one token, by their bytes: one look instead of all the merges.
//
// Why: four words of five are such. Unlike a cache of words seen, the table is fixed: nothing grows
// with what clients send, nothing is shared between threads but memory that nobody writes.
//
// Words of up to 8 bytes are compared without a look at anything but their slot. Threads: immutable
// after the last add(); share it freely.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/strong.hpp"

namespace troupe {

class WordTable {
 public:
  WordTable() : WordTable(0) {}
  /// Room for `words_max` words.
  explicit WordTable(std::size_t words_max);

  /// Of equal words the first counts. Requires: !word.empty(), fewer calls than words_max.
  void add(std::string_view word, TokenId id);

  /// kNone if the word is not here. Requires: !word.empty().
  TokenId find(std::string_view word) const;

  static constexpr TokenId kNone{-1};

 private:
  struct Slot {
    std::uint64_t key = 0;     // the bytes of a short word, else their hash
    std::uint32_t length = 0;  // 0: the slot is free
    TokenId id;
  };
  struct Place {
    const Slot* slot;  // of the word, or a free one
    bool found;
  };
  Place locate(std::string_view word) const;

  std::vector<Slot> slots_;                // open addressing, a power of two, at most half full
  int shift_;                              // leaves as many high bits as number the slots
  std::vector<std::uint64_t> long_begin_;  // by slot: where a long word lies in long_bytes_
  std::string long_bytes_;
};

}  // namespace troupe
