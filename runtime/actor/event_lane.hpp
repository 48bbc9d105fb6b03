// Events that are pushed nearly in their order: messages that travel equally long.
//
// Why: time does not go back, so what is sent later arrives later, but for a few nanoseconds that
// keep one sender's messages apart. A ring in order costs a comparison where a heap costs several
// and moves them, and holds its events itself: few are under way at a time, and the ring of them
// stays in the cache; after a burst it becomes shorter again. Who looks ahead sees what comes next
// before it is taken.
//
// Invariants: (1) events come out by (due, order); (2) a push moves at most kShiftMost others; what
// would have to move more is not taken. Not thread-safe.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/actor/envelope.hpp"
#include "runtime/base/uint128.hpp"

namespace troupe {

/// How the receiver's own books change when an event is delivered.
enum class EventKind : std::uint8_t { kMessage, kTimer, kDone };

struct Event {
  Envelope envelope;
  EventKind kind = EventKind::kMessage;
  std::uint32_t timer = 0;  ///< kTimer: the kind of its tag; its message is made when it is due
  std::uint64_t key = 0;    ///< kDone: the OpId; kTimer: the key of its tag
};

/// Where an event stands among all of a world.
struct EventOrder {
  std::int64_t due = 0;     ///< never negative: virtual time starts at 0
  std::uint64_t order = 0;  ///< tie in the upper 24 bits, seq in the lower 40
  /// One wide comparison: two short-circuited ones would be mispredicted half of the time.
  bool before(const EventOrder& other) const { return wide() < other.wide(); }
  Uint128 wide() const {
    return (static_cast<Uint128>(static_cast<std::uint64_t>(due)) << 64) | order;
  }
};

class EventLane {
 public:
  static constexpr std::size_t kShiftMost = 16;
  static constexpr std::size_t kLeast = 64;  ///< places
  static constexpr std::size_t kShrinkAt =
      4;  ///< a ring becomes shorter beyond so many times its events

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// Requires: !empty().
  const EventOrder& first() const { return ring_[head_].place; }

  /// False: it stands too far from the end, and the event is still the caller's.
  bool push(const EventOrder& place, Event& event) {
    if (size_ == ring_.size()) resize(ring_.empty() ? kLeast : ring_.size() * 2);
    Sent* free = &at(size_);
    if (size_ > 0 && place.before(at(size_ - 1).place)) {
      free = make_room(place);
      if (free == nullptr) return false;
    }
    free->place = place;
    free->event = std::move(event);
    ++size_;
    return true;
  }

  /// Requires: !empty().
  Event pop() {
    Event& event = ring_[head_].event;
    head_ = (head_ + 1) & mask_;
    --size_;
    if (seen_ > 0) --seen_;
    Event popped = std::move(event);
    // A ring that a burst made long would lead through memory that nobody touched for long.
    if (head_ == 0 && size_ * kShrinkAt < ring_.size() && ring_.size() > kLeast) {
      resize(ring_.size() / 2);
    }
    return popped;
  }

  /// Of the first `most` events those that no call has shown yet; one that overtook others that
  /// were shown may be left out, and another come twice.
  void look_ahead(std::size_t most, auto&& visit) {
    for (; seen_ < size_ && seen_ < most; ++seen_) visit(at(seen_).event);
  }

 private:
  struct Sent {
    EventOrder place;
    Event event;
  };
  Sent& at(std::size_t index) { return ring_[(head_ + index) & mask_]; }

  /// nullptr: too many come after that place.
  Sent* make_room(const EventOrder& place) {
    std::size_t after = 1;
    while (after < size_ && place.before(at(size_ - 1 - after).place)) {
      if (++after > kShiftMost) return nullptr;
    }
    for (std::size_t i = size_; i > size_ - after; --i) at(i) = std::move(at(i - 1));
    return &at(size_ - after);
  }

  /// Requires: room for all that is there.
  void resize(std::size_t size) {
    std::vector<Sent> other(size);
    for (std::size_t i = 0; i < size_; ++i) other[i] = std::move(at(i));
    ring_ = std::move(other);
    mask_ = ring_.size() - 1;
    head_ = 0;
  }

  std::vector<Sent> ring_;  ///< a power of two
  std::size_t mask_ = 0;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  std::size_t seen_ = 0;  ///< by look_ahead()
};

}  // namespace troupe
