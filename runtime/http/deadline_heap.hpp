// Which of many connections has something due. Pure.
//
// Why: tens of thousands of connections sleep for minutes; looking at each of them forty times a
// second would cost more than serving. Here a tick costs only what is due.
//
// An owner keeps its real deadlines and pushes itself when one of them is earlier than its entry.
// Deadlines that move later push nothing: the entry comes up early, the owner looks and pushes
// itself again. So a keep-alive connection pushes about once a header_timeout, however many
// requests it carries.
//
// Invariant: an owner that is gone costs nothing but its entry, until that is due.
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/base/time.hpp"

namespace troupe::http {

template <class Owner>
class DeadlineHeap {
 public:
  void push(Time at, std::weak_ptr<Owner> owner) {
    entries_.push_back({at, std::move(owner)});
    std::push_heap(entries_.begin(), entries_.end());
  }
  bool empty() const { return entries_.empty(); }

  /// Takes out what is due at `now` and calls `due(owner)` for each owner that still lives; what
  /// these push is due at a later call.
  template <class Due>
  void pop_due(Time now, Due due) {
    std::vector<std::shared_ptr<Owner>> owners;
    while (!entries_.empty() && entries_.front().at <= now) {
      std::pop_heap(entries_.begin(), entries_.end());
      if (auto owner = entries_.back().owner.lock()) owners.push_back(std::move(owner));
      entries_.pop_back();
    }
    for (const auto& owner : owners) due(*owner);
  }

 private:
  struct Entry {
    Time at;
    std::weak_ptr<Owner> owner;
    /// The earliest is on top.
    friend bool operator<(const Entry& a, const Entry& b) { return b.at < a.at; }
  };
  std::vector<Entry> entries_;
};

}  // namespace troupe::http
