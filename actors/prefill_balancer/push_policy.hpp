// Prefill policies that decide at arrival: others' rules, to compare the seed's with, and for
// engines with caches of their own.
//
//   round-robin   in turn, whatever the loads
//   least-work    the engine with the idlest rank
//   two-choices   of two engines by chance the one with the idler rank (Mitzenmacher, 2001)
//   affinity      by session, or by the first blocks: consistent hashing; an engine whose idlest
//                 rank has more than 1.25 x the mean and 50 ms passes it on (KVROUTER: ch-bounded)
//   cost          the earliest end: quota in front of it and its own step, given what each engine's
//                 cache holds (Mooncake's rule; lowest p95 of the local-cache rules in KVROUTER)
//
// A request whose chain is given counts with what its engine's own cache holds, if that is more
// than its hit in the shared store: whichever rule chose the engine.
//
// Without an engine requests wait, in order. Cost: cost asks every engine for every block, about 10
// ns each; the others O(log engines). Pure but for `rng`, which is seeded; one owner.
#pragma once

#include <map>
#include <vector>

#include "actors/prefill_balancer/hash_ring.hpp"
#include "actors/prefill_balancer/prefill_policy.hpp"
#include "actors/prefill_balancer/prefix_cache.hpp"

namespace troupe {

struct PushOptions {
  std::uint32_t block_tokens = 128;       ///< of a hash in a chain
  std::uint32_t cache_blocks = 0;         ///< of one engine's own cache; 0: it has none
  double bound = 1.25;                    ///< affinity: load over the mean
  Duration allowance = milliseconds(50);  ///< affinity: on top of it
  std::uint64_t seed = 1;
};

class PushPolicy final : public PrefillPolicy {
 public:
  /// Requires: rule is not kBuckets.
  PushPolicy(PrefillPool& pool, PrefillRule rule, const PushOptions& options);

  void arrived(PrefillJob& job, Handouts& out) override;
  void withdrawn(const PrefillJob& job) override { held_.erase(job.order); }
  void joined(EngineId engine, Handouts& out) override;
  void left(EngineId engine) override;
  void has_room(EngineId, Handouts&) override {}
  void computed(const PrefillJob& job) override;
  std::size_t waiting() const override { return held_.size(); }

  /// What an engine reports of its cache: from then on it is believed instead of our own guess.
  void reported(EngineId engine, std::span<const std::uint64_t> stored,
                std::span<const std::uint64_t> evicted);

 private:
  struct Cache {
    PrefixCache blocks{0};
    bool reports = false;
  };
  EngineId choose(const PrefillJob& job);
  EngineId cheapest(const PrefillJob& job) const;
  EngineId of_key(const PrefillJob& job) const;
  /// Tokens of the prompt that are in that engine's own cache.
  std::uint32_t local_hit(const PrefillJob& job, EngineId engine) const;

  PrefillPool& pool_;
  PrefillRule rule_;
  PushOptions options_;
  Rng rng_;
  HashRing ring_;
  std::vector<Cache> caches_;                ///< by EngineId
  std::map<std::uint64_t, RequestId> held_;  ///< by order, while there is no engine
  std::uint64_t turn_ = 0;
};

}  // namespace troupe
