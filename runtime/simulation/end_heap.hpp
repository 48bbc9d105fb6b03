// Ends of flows, soonest first, where an end that changes moves instead of being added anew.
//
// Why not std::priority_queue: a flow that shares its NIC with three more has its end changed six
// times before it ends. A heap that cannot find an entry again would keep five stale ones and sort
// them all; here each flow has one entry and the place where it stands.
//
// Invariants
// 1. One entry a flow; place_ says where it stands.
// 2. Equal ends come in the order in which their flows were added.
//
// Four children a node: half as deep as with two, and the four lie together. Pure; one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/time.hpp"

namespace troupe {

class EndHeap {
 public:
  /// Requires: `flow` is not there. Flows are small numbers: places are a table.
  void add(std::uint32_t flow, Time at) {
    if (flow >= place_.size()) place_.resize(flow + 1);
    entries_.emplace_back();
    rise(entries_.size() - 1, Entry{at, next_order_++, flow});
  }
  /// Requires: `flow` is there.
  void move(std::uint32_t flow, Time at) {
    const std::size_t place = place_[flow];
    Entry entry = entries_[place];
    const bool later = at > entry.at;
    entry.at = at;
    later ? sink(place, entry) : rise(place, entry);
  }
  /// Requires: `flow` is there.
  void erase(std::uint32_t flow) {
    const std::size_t place = place_[flow];
    const Entry last = entries_.back();
    entries_.pop_back();
    if (place == entries_.size()) return;
    // It comes from another branch, where the ends may all be sooner.
    place > 0 && before(last, entries_[parent(place)]) ? rise(place, last) : sink(place, last);
  }

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  /// Requires: not empty.
  Time soonest() const { return entries_.front().at; }
  std::uint32_t soonest_flow() const { return entries_.front().flow; }

 private:
  static constexpr std::size_t kChildren = 4;
  struct Entry {
    Time at;
    std::uint64_t order = 0;
    std::uint32_t flow = 0;
  };

  static bool before(const Entry& a, const Entry& b) {
    return a.at != b.at ? a.at < b.at : a.order < b.order;
  }
  static std::size_t parent(std::size_t place) { return (place - 1) / kChildren; }
  void put(std::size_t place, const Entry& entry) {
    entries_[place] = entry;
    place_[entry.flow] = static_cast<std::uint32_t>(place);
  }

  /// `entry` stands at `place`, or where it belongs on the way to the top.
  void rise(std::size_t place, const Entry& entry) {
    while (place > 0 && before(entry, entries_[parent(place)])) {
      put(place, entries_[parent(place)]);
      place = parent(place);
    }
    put(place, entry);
  }
  /// `entry` stands at `place`, or where it belongs below it.
  void sink(std::size_t place, const Entry& entry) {
    for (;;) {
      const std::size_t first = place * kChildren + 1;
      if (first >= entries_.size()) break;
      const std::size_t end = std::min(first + kChildren, entries_.size());
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (before(entries_[child], entries_[least])) least = child;
      }
      if (!before(entries_[least], entry)) break;
      put(place, entries_[least]);
      place = least;
    }
    put(place, entry);
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> place_;  ///< by flow
  std::uint64_t next_order_ = 0;
};

}  // namespace troupe
