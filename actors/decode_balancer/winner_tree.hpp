// The best of many numbers, of which one changes at a time: a winner tree.
//
// Why: which GPU has the fewest tokens, and whether a request fits on any GPU at all, is asked for
// every request. A change costs at most the height of the tree, an answer nothing, or the height
// where the holder is asked for. Slots that were not set hold the worst value.
//
// Pure; one owner.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace troupe {

/// `kLargest`: the best is the largest, and 0 the worst; else the smallest, and the maximum.
template <class Number, bool kLargest>
class WinnerTree {
 public:
  static constexpr Number kWorst = kLargest ? Number{0} : std::numeric_limits<Number>::max();

  Number best() const { return nodes_.empty() ? kWorst : nodes_[1]; }
  /// A slot that holds the best. Requires: a slot was set.
  std::uint32_t holder() const {
    std::uint32_t at = 1;
    while (at < slots_) at = nodes_[2 * at] == nodes_[at] ? 2 * at : 2 * at + 1;
    return at - slots_;
  }

  void set(std::uint32_t slot, Number value) {
    if (slot >= slots_) grow(slot + 1);
    std::uint32_t at = slots_ + slot;
    nodes_[at] = value;
    for (at /= 2; at > 0; at /= 2) {
      const Number winner = better(nodes_[2 * at], nodes_[2 * at + 1]);
      if (nodes_[at] == winner) break;
      nodes_[at] = winner;
    }
  }

 private:
  static Number better(Number a, Number b) { return (a > b) == kLargest ? a : b; }

  void grow(std::uint32_t least) {
    std::uint32_t slots = slots_ == 0 ? 2 : slots_;
    while (slots < least) slots *= 2;
    std::vector<Number> nodes(2 * std::size_t{slots}, kWorst);
    for (std::uint32_t i = 0; i < slots_; ++i) nodes[slots + i] = nodes_[slots_ + i];
    for (std::uint32_t i = slots - 1; i > 0; --i) nodes[i] = better(nodes[2 * i], nodes[2 * i + 1]);
    nodes_ = std::move(nodes);
    slots_ = slots;
  }

  std::uint32_t slots_ = 0;
  std::vector<Number> nodes_;  ///< a heap: children of i are 2 i and 2 i + 1
};

}  // namespace troupe
