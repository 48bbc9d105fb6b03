// The events of a virtual world, in order.
//
// Order: (due, tie, seq). `tie` is 0, or a hash of seed and seq when interleavings are explored;
// seq is the order of pushing. Small keys over a pool of events; a removed event's key leaves at
// once, so that a cancelled timer costs no memory.
//
// What is due soon (within about a millisecond) stands in a 4-ary heap, what is due later in
// buckets without an order: 256 of 1 ms, then any number of 268 ms. A bucket is poured when all
// before it are empty. So the heap stays small, and a deadline of a request, which is nearly always
// cancelled, is put into a bucket and taken out of it without a search.
//
// Speed: nearly every event causes another one. So `pop` leaves a hole at the top, and the next
// push fills it: one sift instead of two. Where each event's key stands is kept in an array of its
// own, since sifting writes there and nowhere else.
//
// Invariants: (1) pop returns the least event; (2) a handle is valid from push until its event is
// popped or removed; (3) memory is proportional to the greatest number of pending events.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "runtime/actor/envelope.hpp"
#include "runtime/base/time.hpp"
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

struct EventHandle {
  std::uint32_t slot = 0;
  friend bool operator==(EventHandle, EventHandle) = default;
};

class EventQueue {
 public:
  /// explore_seed 0: ties go by seq alone.
  explicit EventQueue(std::uint64_t explore_seed) : explore_seed_(explore_seed) {}

  EventHandle push(Time due, Event&& event);
  /// Requires: a handle whose event is pending.
  void remove(EventHandle handle);
  bool empty() const { return size() == 0; }
  std::size_t size() const { return heap_.size() - (hole_ ? 1 : 0) + later_; }
  /// Requires: !empty().
  Time next_due() {
    find_first();
    return Time(heap_.front().due);
  }
  /// Requires: !empty(). Removes and returns the first event.
  Event pop();

 private:
  struct Key {
    std::int64_t due;     ///< never negative: virtual time starts at 0
    std::uint64_t order;  ///< tie in the upper 24 bits, seq in the lower 40
    std::uint32_t slot;
    /// One wide comparison: two short-circuited ones would be mispredicted half of the time.
    bool before(const Key& other) const { return wide() < other.wide(); }
    Uint128 wide() const {
      return (static_cast<Uint128>(static_cast<std::uint64_t>(due)) << 64) | order;
    }
  };

  using Bucket = std::vector<Key>;
  struct Place {
    std::int64_t due = 0;     ///< tells where the key is
    std::uint32_t index = 0;  ///< in the heap or its bucket
  };
  static constexpr int kFineBits = 20;
  static constexpr int kCoarseBits = 28;
  static constexpr std::size_t kFine = 1u << (kCoarseBits - kFineBits);

  /// The first event stands at the top of the heap. Requires: !empty().
  void find_first() {
    if (hole_) drop_hole();
    if (heap_.empty()) pour();
  }
  void drop_hole();
  void pour();
  /// Of a key that is due at or after horizon_.
  Bucket& bucket_of(std::int64_t due);
  void put(Bucket& bucket, const Key& key);
  void remove_soon(EventHandle handle);
  void remove_later(EventHandle handle);
  std::size_t least_child(std::size_t first) const;
  void set(std::size_t index, const Key& key);
  void sift_up(std::size_t index, Key key);
  void sift_down(std::size_t index, Key key);

  std::uint64_t explore_seed_;
  std::uint64_t next_seq_ = 0;
  bool hole_ = false;                      ///< the first key is stale: its event was popped
  std::vector<Key> heap_;                  ///< of what is due before horizon_
  std::array<Bucket, kFine> fine_;         ///< from there to fine_end_, by bits of the time
  std::map<std::int64_t, Bucket> coarse_;  ///< from there on, by the time's higher bits
  std::int64_t horizon_ = 0;
  std::int64_t fine_end_ = 0;
  std::size_t later_ = 0;      ///< events in buckets
  std::vector<Place> places_;  ///< by slot
  std::vector<Event> events_;  ///< by slot
  std::vector<std::uint32_t> free_;
};

}  // namespace troupe
