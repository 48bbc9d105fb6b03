// What an engine's own prefix cache probably holds: block hashes, the least recently used go first.
//
// Why: policies that send a request to where its prefix is need to know where that is. Two sources:
// what the engine itself reports, and, as long as it reports nothing, what it was given to compute.
// With the shared store of seed 000 any engine hits any prefix, and none of this is used.
//
// It is the store's directory, too (actors/pd/prefix_index.hpp), whose blocks end some time after
// their last use.
//
// Invariant: at most `blocks_most` hashes. Units: blocks. Pure; one owner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/flat_map.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

class PrefixCache {
 public:
  explicit PrefixCache(std::uint32_t blocks_most) : most_(blocks_most) {}

  /// How many hashes from the chain's beginning are there.
  std::uint32_t leading(std::span<const std::uint64_t> chain) const;
  /// They are there, and were used now. The beginning of a chain outlives its end. `now` never goes
  /// back; whoever drops nothing by time may leave it out.
  void touch(std::span<const std::uint64_t> chain, Time now = {});
  /// Forgets what was last used before `since`. Amortised O(1) a block.
  void drop_unused(Time since);
  void forget(std::span<const std::uint64_t> hashes);
  std::size_t size() const { return slot_of_.size(); }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t older = kNone;
    std::uint32_t newer = kNone;
    Time used;
  };
  static std::uint64_t key(std::uint64_t hash) { return hash == 0 ? 1 : hash; }
  void unlink(std::uint32_t slot);
  void link_newest(std::uint32_t slot);
  void drop(std::uint32_t slot);

  std::uint32_t most_;
  FlatMap<std::uint32_t> slot_of_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> unused_;
  std::uint32_t oldest_ = kNone;
  std::uint32_t newest_ = kNone;
};

}  // namespace troupe
