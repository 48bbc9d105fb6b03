// The best of many numbers, of which one changes at a time: a winner tree.
//
// Why: which GPU has the fewest rows or tokens, which engine the least work, and whether a request
// fits on any GPU at all, is asked for every request. A change costs at most the height of the
// tree, and little memory far away: only its lowest levels are. An answer costs nothing, or the
// height where a holder is asked for. Slots that were not set hold the worst value.
//
// Pure; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace troupe {

/// Number: unsigned. `kLargest`: the best is the largest, and 0 the worst; else the smallest, and
/// the maximum.
template <class Number, bool kLargest>
class WinnerTree {
 public:
  static constexpr Number kWorst = kLargest ? Number{0} : static_cast<Number>(~Number{0});

  Number best() const { return nodes_.empty() ? kWorst : nodes_[1]; }
  /// The first slot from `start` on that holds the best, round the circle. Requires: a slot was
  /// set.
  std::uint32_t holder(std::uint32_t start = 0) const {
    const Number wanted = nodes_[1];
    // Up from where nothing is, over to the next subtree on the right.
    std::uint32_t at = start < slots_ ? slots_ + start : 1;
    while (nodes_[at] != wanted) {
      while (at % 2 == 1 && at > 1) at /= 2;
      at = at == 1 ? 1 : at + 1;
    }
    while (at < slots_) at = nodes_[2 * at] == wanted ? 2 * at : 2 * at + 1;
    return at - slots_;
  }
  /// The slot with the best number of those that `passes`: as cheap as the others as long as few of
  /// the better ones do not.
  template <class Passes>
  std::optional<std::uint32_t> best_of(Passes&& passes) const {
    if (nodes_.empty()) return std::nullopt;
    Number best = kWorst;
    std::optional<std::uint32_t> found;
    search(1, best, found, passes);
    return found;
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
  template <class Passes>
  void search(std::uint32_t at, Number& best, std::optional<std::uint32_t>& found,
              Passes& passes) const {
    if (nodes_[at] == best || better(nodes_[at], best) == best) return;
    if (at >= slots_) {
      if (!passes(at - slots_)) return;
      best = nodes_[at];
      found = at - slots_;
      return;
    }
    const std::uint32_t first =
        better(nodes_[2 * at], nodes_[2 * at + 1]) == nodes_[2 * at] ? 0 : 1;
    search(2 * at + first, best, found, passes);
    search(2 * at + 1 - first, best, found, passes);
  }
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
