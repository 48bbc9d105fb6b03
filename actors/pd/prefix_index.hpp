// How much of a prompt is in the store, known before anybody computes it.
//
// Hash chains are matched against what the store holds (metadata only), the window is looked up in
// its directory; hit_policy.hpp makes a length of both. A request without a chain says itself how
// much of it is cached (a load that is given as a share).
//
// The window: a session's last window lives `window_life` (seed 000: 180 s); with the chance
// `window_miss` it is gone all the same (seed 000: hits above 98 %). Requests without a session
// have the chance only.
//
// Invariants: at most `store_blocks` hashes, the least recently used go first; none that nobody
// used for `store_life`; a prompt's blocks become visible when they were computed, its answer's
// when the decode instance has written them. Units: blocks of `chain_tokens` tokens. Pure but for
// `rng`.
#pragma once

#include "actors/prefill_balancer/prefix_cache.hpp"
#include "runtime/base/flat_map.hpp"
#include "runtime/base/time.hpp"
#include "runtime/device/group_step.hpp"

namespace troupe {

class PrefixIndex {
 public:
  struct Options {
    bool shared = true;  ///< there is a store; else each engine has its own cache, and knows
    std::uint32_t store_blocks = 1u << 20;
    Duration store_life;               ///< of a block after its last use; 0: endless
    std::uint32_t chain_tokens = 128;  ///< of a hash of a chain
    Duration window_life = seconds(180);
    double window_miss = 0.02;
    std::uint32_t sessions_most = 1u << 20;
  };

  explicit PrefixIndex(const Options& options) : options_(options), store_(options.store_blocks) {}

  /// Tokens of the prompt that need not be computed.
  std::uint32_t hit(const SimulatedWork& work, std::uint32_t length, Time now, Rng& rng);
  /// The blocks of a prompt of this length are in the store now, its window on some machine.
  void computed(const SimulatedWork& work, std::uint32_t length, Time now);
  /// So are those of its answer.
  void answered(const SimulatedWork& work, Time now);
  /// An engine has so much of a prompt in its own cache.
  void found(std::uint32_t tokens) { hit_ += tokens; }

  std::uint64_t tokens_asked() const { return asked_; }
  std::uint64_t tokens_hit() const { return hit_; }

 private:
  bool has_window(const SimulatedWork& work, Time now, Rng& rng);

  Options options_;
  PrefixCache store_;
  FlatMap<Time> windows_;  ///< by session: when its window is gone
  std::uint64_t asked_ = 0;
  std::uint64_t hit_ = 0;
};

}  // namespace troupe
