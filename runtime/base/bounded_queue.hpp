// A FIFO with a bound: what does not fit is refused, never dropped silently.
//
// Not thread-safe: the owner is one actor or one thread.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "runtime/base/assert.hpp"

namespace troupe {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  /// False if the queue is full; the item is then not taken.
  [[nodiscard]] bool push(T item) {
    if (items_.size() >= capacity_) return false;
    items_.push_back(std::move(item));
    return true;
  }

  /// Requires: !empty().
  T pop() {
    TROUPE_ASSERT(!items_.empty(), "pop() needs an item");
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

  /// Requires: !empty().
  const T& front() const {
    TROUPE_ASSERT(!items_.empty(), "front() needs an item");
    return items_.front();
  }

  template <class Predicate>
  std::size_t erase_if(Predicate predicate) {
    return std::erase_if(items_, predicate);
  }

  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  std::size_t capacity() const { return capacity_; }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::size_t capacity_;
  std::deque<T> items_;
};

}  // namespace troupe
