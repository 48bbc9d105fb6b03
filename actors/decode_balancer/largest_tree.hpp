// The largest of many numbers, of which one changes at a time: a winner tree.
//
// Why: a request that fits on no GPU must be seen as such without asking each of them, whenever the
// decode side is full. A change costs the height of the tree, the question nothing.
//
// Pure; one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/base/assert.hpp"

namespace troupe {

class LargestTree {
 public:
  std::uint32_t largest() const { return nodes_.empty() ? 0 : nodes_[1]; }

  void set(std::uint32_t slot, std::uint32_t value) {
    if (slot >= slots_) grow(slot + 1);
    std::uint32_t at = slots_ + slot;
    nodes_[at] = value;
    for (at /= 2; at > 0; at /= 2) {
      const std::uint32_t winner = std::max(nodes_[2 * at], nodes_[2 * at + 1]);
      if (nodes_[at] == winner) break;
      nodes_[at] = winner;
    }
  }

 private:
  void grow(std::uint32_t least) {
    std::uint32_t slots = slots_ == 0 ? 2 : slots_;
    while (slots < least) slots *= 2;
    std::vector<std::uint32_t> nodes(2 * slots);
    for (std::uint32_t i = 0; i < slots_; ++i) nodes[slots + i] = nodes_[slots_ + i];
    for (std::uint32_t i = slots - 1; i > 0; --i)
      nodes[i] = std::max(nodes[2 * i], nodes[2 * i + 1]);
    nodes_ = std::move(nodes);
    slots_ = slots;
  }

  std::uint32_t slots_ = 0;
  std::vector<std::uint32_t> nodes_;  ///< a heap: children of i are 2 i and 2 i + 1
};

}  // namespace troupe
