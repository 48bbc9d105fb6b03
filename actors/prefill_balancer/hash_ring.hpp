// Consistent hashing: which engine a key belongs to, so that an engine that comes or goes moves
// only its own share of the keys.
//
// Each engine stands at 64 places of a circle. A key belongs to the first engine after it that
// `takes` it: with a bound on load, a popular key spills over to the next engines on the circle,
// always the same ones (consistent hashing with bounded loads: Mirrokni et al., 2018).
//
// Pure; one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "actors/prefill_balancer/prefill_pool.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

class HashRing {
 public:
  static constexpr std::uint32_t kPlaces = 64;

  void add(EngineId engine) {
    for (std::uint32_t i = 0; i < kPlaces; ++i) {
      places_.emplace_back(mix64(splitmix64(engine.value), i), engine);
    }
    std::sort(places_.begin(), places_.end());
  }
  void remove(EngineId engine) {
    std::erase_if(places_, [&](const auto& place) { return place.second == engine; });
  }

  /// The first engine from the key's place on that takes it; if none does, the first of all.
  /// Requires: an engine was added.
  template <class Takes>
  EngineId find(std::uint64_t key, Takes&& takes) const {
    const std::pair<std::uint64_t, EngineId> from{splitmix64(key), EngineId(0)};
    const auto at = static_cast<std::size_t>(
        std::lower_bound(places_.begin(), places_.end(), from) - places_.begin());
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const EngineId engine = places_[(at + i) % places_.size()].second;
      if (takes(engine)) return engine;
    }
    return places_[at % places_.size()].second;
  }

 private:
  std::vector<std::pair<std::uint64_t, EngineId>> places_;  ///< sorted
};

}  // namespace troupe
