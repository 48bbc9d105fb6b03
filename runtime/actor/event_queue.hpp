// The events of a virtual world, in order.
//
// Order: (due, tie, seq). `tie` is 0, or a hash of seed and seq when interleavings are explored;
// seq is the order of pushing. Small keys over a pool of events; a removed event leaves the pool at
// once, its key soon, so that a cancelled timer costs no memory.
//
// Messages travel one of two times, and stand in two lanes (event_lane.hpp), in order as they are.
// Of the rest, what is due soon (within about 0.3 ms) stands in a 4-ary heap, what is due
// later in buckets without an order: 1,024 of 0.26 ms, then any number of 268 ms. A bucket is
// poured when all before it are empty. So the heap stays small, and a deadline of a request, which
// is nearly always cancelled, is put into a bucket and taken out of it without a search. Its key is
// only marked: what else a removal would touch is far away by then. A bucket of which three
// quarters are marked is made smaller.
//
// Speed: nearly every timer causes another one. So `pop` leaves a hole at the top, and the next
// push fills it: one sift instead of two. Where each event's key stands is kept in an array of its
// own, since sifting writes there and nowhere else.
//
// Invariants: (1) pop returns the least event of all; (2) a handle is valid from push until its
// event is popped or removed, and messages have none; (3) memory is proportional to the greatest
// number of pending events.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "runtime/actor/event_lane.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

/// Beside the event's slot: where its key was put. It may have moved since, but hardly ever has
/// when a deadline is cancelled.
struct EventHandle {
  std::uint32_t slot = 0;
  std::uint32_t index = 0;
  std::int64_t due = 0;
};

class EventQueue {
 public:
  /// explore_seed 0: ties go by seq alone.
  explicit EventQueue(std::uint64_t explore_seed) : explore_seed_(explore_seed) {}

  enum class Travel : std::uint8_t { kLocal, kRemote };  ///< within a node, between nodes

  /// An event of the heap or a bucket: one cache line.
  struct alignas(64) Kept {
    Kept() = default;
    explicit Kept(Event&& event);
    Event give();
    ActorRef to;
    Message message;
    ActorRef from;  ///< of what is no message: timer and key, as node and local id
    EventKind kind = EventKind::kMessage;
  };

  EventHandle push(Time due, Event&& event);
  /// A message: any time of travel is right, but those that travel alike belong together.
  void push_message(Time due, Travel travel, Event&& event);
  /// Requires: a handle whose event is pending.
  void remove(const EventHandle& handle) {
    remove_timer(handle);
    events_[handle.slot] = {};
  }
  /// The same of one that holds no message: its event is not touched.
  void remove_timer(const EventHandle& handle);
  bool empty() const { return size() == 0; }
  std::size_t size() const { return lanes_[0].size() + lanes_[1].size() + rest(); }
  /// What it holds memory for, beside lanes: marks of removed events too.
  std::size_t keys() const;
  /// Where the first event stands, until the next push, remove or take.
  enum class From : std::uint8_t { kLocal, kRemote, kHeap };
  struct First {
    From from;
    Time due;
  };
  /// Requires: !empty().
  First first() {
    const From from = find_first();
    return {from, Time(order_of(from).due)};
  }
  Time next_due() { return first().due; }
  /// Removes and returns it.
  Event take(const First& first);
  /// Requires: !empty().
  Event pop() { return take(first()); }

  // What will be due soon, each event at most once.
  /// Messages that come next.
  void look_ahead(auto&& visit) {
    for (EventLane& lane : lanes_) lane.look_ahead(kLookAhead, visit);
  }
  /// What first() has poured into the heap at last, if that was after clear_poured(): numbers for
  /// poured_event().
  std::span<const std::uint32_t> poured() const { return poured_; }
  /// Begins to bring what remove() touches into the cache.
  void fetch(const EventHandle& handle) const;
  const Kept& poured_event(std::uint32_t number) const { return events_[number]; }
  void clear_poured() { poured_.clear(); }

 private:
  struct Key : EventOrder {
    std::uint32_t slot = 0;
  };
  struct Bucket {
    std::vector<Key> keys;
    std::size_t gone = 0;  ///< of them: events that were removed
    std::size_t size() const { return keys.size() - gone; }
  };
  static constexpr std::size_t kLookAhead = 4;
  static constexpr std::uint32_t kGone = ~std::uint32_t{0};  ///< no slot
  static constexpr int kFineBits = 18;
  static constexpr int kCoarseBits = 28;
  static constexpr std::size_t kFine = 1u << (kCoarseBits - kFineBits);

  std::size_t rest() const { return heap_.size() - (hole_ ? 1 : 0) + later_; }
  EventOrder place_of(Time due);
  const EventOrder& order_of(From from) const {
    return from == From::kHeap ? heap_.front() : lanes_[static_cast<std::size_t>(from)].first();
  }
  /// Requires: !empty(). If it is in the heap, then at its top.
  From find_first() {
    if (hole_) drop_hole();
    if (lanes_[0].empty() && lanes_[1].empty()) {
      if (heap_.empty()) pour();
      return From::kHeap;
    }
    From first = From::kLocal;
    if (lanes_[0].empty() || (!lanes_[1].empty() && lanes_[1].first().before(lanes_[0].first()))) {
      first = From::kRemote;
    }
    if (heap_.empty() && later_ > 0 && order_of(first).due >= horizon_) pour();
    return !heap_.empty() && heap_.front().before(order_of(first)) ? From::kHeap : first;
  }
  EventHandle put(const EventOrder& place, Event&& event);
  void drop_hole();
  void pour();
  /// Of a key that is due at or after horizon_.
  Bucket& bucket_of(std::int64_t due);
  /// nullptr: it is not in a bucket.
  const Bucket* find_bucket(std::int64_t due) const;
  void put(Bucket& bucket, const Key& key);
  void compact(Bucket& bucket);
  void remove_soon(std::uint32_t slot);
  void remove_later(const EventHandle& handle);
  std::size_t least_child(std::size_t first) const;
  void set(std::size_t index, const Key& key);
  void sift_up(std::size_t index, Key key);
  void sift_down(std::size_t index, Key key);

  std::uint64_t explore_seed_;
  std::uint64_t next_seq_ = 0;
  bool hole_ = false;                      ///< the first key is stale: its event was popped
  std::array<EventLane, 2> lanes_;         ///< by Travel
  std::vector<Key> heap_;                  ///< of what is due before horizon_
  std::array<Bucket, kFine> fine_;         ///< from there to fine_end_, by bits of the time
  std::map<std::int64_t, Bucket> coarse_;  ///< from there on, by the time's higher bits
  std::int64_t horizon_ = 0;
  std::int64_t fine_end_ = 0;
  std::size_t later_ = 0;              ///< events in buckets
  std::vector<std::uint32_t> places_;  ///< by slot: where its key is in the heap or its bucket
  std::vector<Kept> events_;           ///< by slot
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> poured_;  ///< slots
};

}  // namespace troupe
