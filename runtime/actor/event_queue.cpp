#include "runtime/actor/event_queue.hpp"

#include <algorithm>

namespace troupe {

namespace {
constexpr int kSeqBits = 40;
constexpr std::size_t kArity = 4;
}  // namespace

EventHandle EventQueue::push(Time due, Event event) {
  std::uint32_t slot;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  slots_[slot].event = std::move(event);
  const std::uint64_t seq = next_seq_++;
  TROUPE_ASSERT(seq >> kSeqBits == 0, "a world has at most 2^40 events");
  const std::uint64_t tie = explore_seed_ == 0 ? 0 : mix64(explore_seed_, seq) >> kSeqBits;
  heap_.emplace_back();
  sift_up(heap_.size() - 1, Key{due.value, (tie << kSeqBits) | seq, slot});
  return {slot};
}

Event EventQueue::pop() {
  TROUPE_ASSERT(!heap_.empty(), "pop() needs an event");
  const std::uint32_t slot = heap_.front().slot;
  const Key last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0, last);
  return take(slot);
}

void EventQueue::remove(EventHandle handle) {
  const std::size_t index = slots_[handle.slot].heap_index;
  TROUPE_ASSERT(index < heap_.size() && heap_[index].slot == handle.slot,
                "remove() needs a pending event");
  const Key last = heap_.back();
  heap_.pop_back();
  if (index < heap_.size()) {
    if (index > 0 && last.before(heap_[(index - 1) / kArity])) {
      sift_up(index, last);
    } else {
      sift_down(index, last);
    }
  }
  take(handle.slot);
}

Event EventQueue::take(std::uint32_t slot) {
  Event event = std::move(slots_[slot].event);
  free_.push_back(slot);
  return event;
}

void EventQueue::set(std::size_t index, const Key& key) {
  heap_[index] = key;
  slots_[key.slot].heap_index = static_cast<std::uint32_t>(index);
}

void EventQueue::sift_up(std::size_t index, Key key) {
  while (index > 0) {
    const std::size_t parent = (index - 1) / kArity;
    if (!key.before(heap_[parent])) break;
    set(index, heap_[parent]);
    index = parent;
  }
  set(index, key);
}

void EventQueue::sift_down(std::size_t index, Key key) {
  const std::size_t size = heap_.size();
  for (;;) {
    const std::size_t first = index * kArity + 1;
    if (first >= size) break;
    std::size_t least = first;
    const std::size_t end = std::min(first + kArity, size);
    for (std::size_t child = first + 1; child < end; ++child) {
      if (heap_[child].before(heap_[least])) least = child;
    }
    if (!heap_[least].before(key)) break;
    set(index, heap_[least]);
    index = least;
  }
  set(index, key);
}

}  // namespace troupe
