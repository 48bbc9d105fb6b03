// Deadlines of requests, most of which never come: a heap whose entries are forgotten lazily.
//
// Why: nearly every request gets its place long before its deadline. To remove each deadline from
// an ordered set costs more than the placement itself. Here an entry stays until it reaches the
// top, or until half of the heap is stale; whoever asks says which entries still hold.
//
// Invariant: at most twice as many entries as live ones, and kSlack. Equal times come in the order
// of request ids, so that nothing depends on the shape of the heap. Pure; one owner.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

class DeadlineHeap {
 public:
  using Entry = std::pair<Time, RequestId>;

  /// `live`: how many requests have a deadline now; `holds(entry)`: whether an entry is one of
  /// them.
  template <class Holds>
  void push(Time at, RequestId request, std::size_t live, Holds&& holds) {
    if (entries_.size() > 2 * live + kSlack) {
      std::erase_if(entries_, [&](const Entry& entry) { return !holds(entry); });
      std::make_heap(entries_.begin(), entries_.end(), std::greater<>());
    }
    entries_.emplace_back(at, request);
    std::push_heap(entries_.begin(), entries_.end(), std::greater<>());
  }
  /// The earliest that holds.
  template <class Holds>
  std::optional<Entry> first(Holds&& holds) {
    while (!entries_.empty()) {
      if (holds(entries_.front())) return entries_.front();
      std::pop_heap(entries_.begin(), entries_.end(), std::greater<>());
      entries_.pop_back();
    }
    return std::nullopt;
  }
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t kSlack = 1'024;
  std::vector<Entry> entries_;
};

}  // namespace troupe
