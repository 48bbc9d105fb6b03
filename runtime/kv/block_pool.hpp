// The KV blocks of one rank: a bounded pool of ids.
//
// A block is 128 tokens of keys and values of all layers (device.hpp, kKvBlockTokens). The pool
// hands out ids; the bytes live in the device. Who holds a block returns it once: the pool asserts
// that no block is returned twice or invented.
//
// Invariants: (1) free + held == capacity; (2) an id is held by at most one holder; (3) ids are
// given out lowest first, so that runs repeat.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/strong.hpp"

namespace troupe {

class BlockPool {
 public:
  explicit BlockPool(std::uint32_t capacity);

  std::uint32_t capacity() const { return static_cast<std::uint32_t>(held_.size()); }
  std::uint32_t free() const { return static_cast<std::uint32_t>(free_.size()); }
  std::uint32_t held() const { return capacity() - free(); }

  /// Appends `count` blocks to `holder`. False, and nothing taken, if there are not that many.
  [[nodiscard]] bool take(std::uint32_t count, std::vector<BlockId>& holder);
  /// Takes all blocks of `holder` back and empties it.
  void give_back(std::vector<BlockId>& holder);

 private:
  std::vector<BlockId> free_;  ///< a min-heap
  std::vector<bool> held_;
};

}  // namespace troupe
