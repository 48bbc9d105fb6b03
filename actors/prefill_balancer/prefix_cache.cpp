#include "actors/prefill_balancer/prefix_cache.hpp"

namespace troupe {

std::uint32_t PrefixCache::leading(std::span<const std::uint64_t> chain) const {
  std::uint32_t count = 0;
  while (count < chain.size() && slot_of_.find(key(chain[count])) != nullptr) ++count;
  return count;
}

void PrefixCache::touch(std::span<const std::uint64_t> chain, Time now) {
  if (most_ == 0) return;
  for (std::size_t i = chain.size(); i-- > 0;) {
    const std::uint64_t hash = key(chain[i]);
    if (const std::uint32_t* known = slot_of_.find(hash)) {
      unlink(*known);
      link_newest(*known);
      slots_[*known].used = now;
      continue;
    }
    if (slot_of_.size() >= most_) drop(oldest_);
    if (unused_.empty()) {
      unused_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t slot = unused_.back();
    unused_.pop_back();
    slots_[slot].hash = hash;
    slots_[slot].used = now;
    slot_of_.insert(hash, slot);
    link_newest(slot);
  }
}

void PrefixCache::drop_unused(Time since) {
  while (oldest_ != kNone && slots_[oldest_].used < since) drop(oldest_);
}

void PrefixCache::forget(std::span<const std::uint64_t> hashes) {
  for (const std::uint64_t hash : hashes) {
    const std::uint32_t* slot = slot_of_.find(key(hash));
    if (slot != nullptr) drop(*slot);
  }
}

void PrefixCache::drop(std::uint32_t slot) {
  unlink(slot);
  slot_of_.erase(slots_[slot].hash);
  unused_.push_back(slot);
}

void PrefixCache::unlink(std::uint32_t slot) {
  const Slot& one = slots_[slot];
  (one.older == kNone ? oldest_ : slots_[one.older].newer) = one.newer;
  (one.newer == kNone ? newest_ : slots_[one.newer].older) = one.older;
}

void PrefixCache::link_newest(std::uint32_t slot) {
  slots_[slot].older = newest_;
  slots_[slot].newer = kNone;
  (newest_ == kNone ? oldest_ : slots_[newest_].newer) = slot;
  newest_ = slot;
}

}  // namespace troupe
