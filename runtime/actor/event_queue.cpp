#include "runtime/actor/event_queue.hpp"

#include <algorithm>
#include <memory>

#include "runtime/base/fetch.hpp"

namespace troupe {

namespace {
constexpr int kSeqBits = 40;
constexpr std::size_t kArity = 4;
}  // namespace

EventQueue::Kept::Kept(Event&& event)
    : to(event.envelope.to),
      message(std::move(event.envelope.message)),
      from(event.kind == EventKind::kMessage ? event.envelope.from
                                             : ActorRef{NodeId(event.timer), 0, event.key, 0}),
      kind(event.kind) {}

Event EventQueue::Kept::give() {
  if (kind == EventKind::kMessage) return {{from, to, std::move(message)}, kind, 0, 0};
  return {{{}, to, std::move(message)}, kind, from.node.value, from.local};
}

EventOrder EventQueue::place_of(Time due) {
  TROUPE_ASSERT(due.value >= 0, "virtual time starts at 0");
  const std::uint64_t seq = next_seq_++;
  TROUPE_ASSERT(seq >> kSeqBits == 0, "a world has at most 2^40 events");
  const std::uint64_t tie = explore_seed_ == 0 ? 0 : mix64(explore_seed_, seq) >> kSeqBits;
  return {due.value, (tie << kSeqBits) | seq};
}

void EventQueue::push_message(Time due, Travel travel, Event&& event) {
  const EventOrder place = place_of(due);
  if (!lanes_[static_cast<std::size_t>(travel)].push(place, event)) put(place, std::move(event));
}

EventHandle EventQueue::push(Time due, Event&& event) {
  return put(place_of(due), std::move(event));
}

EventHandle EventQueue::put(const EventOrder& place, Event&& event) {
  std::uint32_t slot;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(events_.size());
    events_.emplace_back(std::move(event));
    places_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
    // Whatever stands in a free slot holds no message: it need not be read.
    std::construct_at(&events_[slot], std::move(event));
  }
  const Key key{place, slot};
  if (place.due >= horizon_) {
    put(bucket_of(place.due), key);
    ++later_;
  } else if (hole_) {
    hole_ = false;
    sift_down(0, key);
  } else {
    heap_.emplace_back();
    sift_up(heap_.size() - 1, key);
  }
  return {slot, places_[slot], place.due};
}

Event EventQueue::take(const First& first) {
  const From from = first.from;
  if (from != From::kHeap) return lanes_[static_cast<std::size_t>(from)].pop();
  hole_ = true;
  const std::uint32_t slot = heap_.front().slot;
  free_.push_back(slot);
  return events_[slot].give();
}

void EventQueue::drop_hole() {
  hole_ = false;
  const Key last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0, last);
}

EventQueue::Bucket& EventQueue::bucket_of(std::int64_t due) {
  if (due < fine_end_) return fine_[static_cast<std::size_t>(due >> kFineBits) % kFine];
  return coarse_[due >> kCoarseBits];
}

void EventQueue::put(Bucket& bucket, const Key& key) {
  places_[key.slot] = static_cast<std::uint32_t>(bucket.keys.size());
  bucket.keys.push_back(key);
}

void EventQueue::compact(Bucket& bucket) {
  std::erase_if(bucket.keys, [](const Key& key) { return key.slot == kGone; });
  bucket.gone = 0;
  for (std::size_t i = 0; i < bucket.keys.size(); ++i) {
    places_[bucket.keys[i].slot] = static_cast<std::uint32_t>(i);
  }
}

std::size_t EventQueue::keys() const {
  std::size_t keys = heap_.size();
  for (const Bucket& bucket : fine_) keys += bucket.keys.size();
  for (const auto& [time, bucket] : coarse_) keys += bucket.keys.size();
  return keys;
}

void EventQueue::pour() {
  poured_.clear();
  for (;;) {
    for (; horizon_ < fine_end_; horizon_ += std::int64_t{1} << kFineBits) {
      Bucket& bucket = fine_[static_cast<std::size_t>(horizon_ >> kFineBits) % kFine];
      if (bucket.size() == 0) continue;
      horizon_ += std::int64_t{1} << kFineBits;
      later_ -= bucket.size();
      for (const Key& key : bucket.keys) {
        if (key.slot == kGone) continue;
        heap_.emplace_back();
        sift_up(heap_.size() - 1, key);
        poured_.push_back(key.slot);
      }
      bucket.keys.clear();
      bucket.gone = 0;
      return;
    }
    TROUPE_ASSERT(!coarse_.empty(), "an event is in the heap or in a bucket");
    const auto first = coarse_.begin();
    horizon_ = first->first << kCoarseBits;
    fine_end_ = horizon_ + (std::int64_t{1} << kCoarseBits);
    for (const Key& key : first->second.keys) {
      if (key.slot != kGone) put(bucket_of(key.due), key);
    }
    coarse_.erase(first);
  }
}

const EventQueue::Bucket* EventQueue::find_bucket(std::int64_t due) const {
  if (due < horizon_) return nullptr;
  if (due < fine_end_) return &fine_[static_cast<std::size_t>(due >> kFineBits) % kFine];
  const auto at = coarse_.find(due >> kCoarseBits);
  return at == coarse_.end() ? nullptr : &at->second;
}

void EventQueue::fetch(const EventHandle& handle) const {
  const Bucket* bucket = find_bucket(handle.due);
  if (bucket == nullptr || handle.index >= bucket->keys.size()) return;
  fetch_line(&bucket->keys[handle.index]);
}

void EventQueue::remove_later(const EventHandle& handle) {
  Bucket& bucket = bucket_of(handle.due);
  const auto stands = [&](std::uint32_t index) {
    return index < bucket.keys.size() && bucket.keys[index].slot == handle.slot;
  };
  const std::uint32_t index = stands(handle.index) ? handle.index : places_[handle.slot];
  TROUPE_ASSERT(stands(index), "remove() needs a pending event");
  bucket.keys[index].slot = kGone;
  --later_;
  if (++bucket.gone * 4 < bucket.keys.size() * 3) return;
  compact(bucket);
  if (bucket.keys.empty() && handle.due >= fine_end_) coarse_.erase(handle.due >> kCoarseBits);
}

void EventQueue::remove_timer(const EventHandle& handle) {
  if (handle.due >= horizon_) {
    remove_later(handle);
  } else {
    remove_soon(handle.slot);
  }
  free_.push_back(handle.slot);
}

void EventQueue::remove_soon(std::uint32_t slot) {
  if (hole_) drop_hole();
  const std::size_t index = places_[slot];
  TROUPE_ASSERT(index < heap_.size() && heap_[index].slot == slot,
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
}

void EventQueue::set(std::size_t index, const Key& key) {
  heap_[index] = key;
  places_[key.slot] = static_cast<std::uint32_t>(index);
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

inline std::size_t EventQueue::least_child(std::size_t first) const {
  const std::size_t left = first + (heap_[first + 1].before(heap_[first]) ? 1 : 0);
  const std::size_t right = first + 2 + (heap_[first + 3].before(heap_[first + 2]) ? 1 : 0);
  return heap_[right].before(heap_[left]) ? right : left;
}

void EventQueue::sift_down(std::size_t index, Key key) {
  const std::size_t size = heap_.size();
  for (;;) {
    const std::size_t first = index * kArity + 1;
    if (first >= size) break;
    std::size_t least = first;
    if (first + kArity <= size) {
      least = least_child(first);
    } else {
      for (std::size_t child = first + 1; child < size; ++child) {
        if (heap_[child].before(heap_[least])) least = child;
      }
    }
    if (!heap_[least].before(key)) break;
    set(index, heap_[least]);
    index = least;
  }
  set(index, key);
}

}  // namespace troupe
