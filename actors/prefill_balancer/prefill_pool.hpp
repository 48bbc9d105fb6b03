// What a prefill balancer knows of its engines and of the requests that it has.
//
// An engine is one DP group (EP2/DP2, EP4/DP4): its ranks compute different requests and wait for
// each other at every MoE layer. A rank's load is compute quota: the time that the requests in its
// FIFO will still take, by the fitted curve (runtime/cost). The fixed time of a step is not in it:
// it is paid once a step, whatever is in it.
//
// Layer c of the balancer is here: a request that an engine gets goes to its rank of the lowest
// load, on a tie by hash.
//
// Invariants
// 1. A rank's load is the sum of `load` of its jobs. It counts what was decided, at once.
// 2. Engines of a group are ordered by (load of their idlest rank, sum of loads).
// 3. A job waits (no engine) or is handed to one engine. `order` never changes, so that work that
//    comes back takes its old place.
//
// Cost: O(log engines) a change, about 0.2 µs at 128 engines. Units: tokens; quota in ns. Pure; one
// owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/balance/winner_tree.hpp"
#include "runtime/base/id_map.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"
#include "runtime/base/uint128.hpp"
#include "runtime/cost/prefill_curve.hpp"

namespace troupe {

/// An engine of a PrefillPool: an index that is used again after remove_engine().
struct EngineId : Strong<EngineId, std::uint32_t> {
  using Strong::Strong;
};
inline constexpr EngineId kNoEngine{~std::uint32_t{0}};

struct PrefillJob {
  RequestId request;
  std::uint32_t length = 0;          ///< tokens of the prompt
  std::uint32_t hit = 0;             ///< of them in the shared store: any engine can fetch them
  std::uint64_t affinity = 0;        ///< of its session or first blocks; 0: none
  std::vector<std::uint64_t> chain;  ///< block hashes, for engines with caches of their own
  Time came;                         ///< to the balancer
  // Kept by the pool.
  std::uint64_t order = 0;
  Duration quota;  ///< what it takes from its hit to its end
  Duration load;   ///< what of it counts in its rank's load now
  Time turn;       ///< the policy's: earlier is taken first
  std::uint32_t computed = 0;
  EngineId engine = kNoEngine;
  std::uint32_t rank = 0;
  std::uint32_t generation = 0;  ///< how often it was handed to an engine

  bool waiting() const { return engine == kNoEngine; }
};

class PrefillPool {
 public:
  explicit PrefillPool(const PrefillCurve& curve = {}) : curve_(curve) {}

  /// In group 0. Requires: ranks > 0.
  EngineId add_engine(std::uint32_t ranks);
  /// Requires: its jobs were taken back.
  void remove_engine(EngineId engine);
  void set_group(EngineId engine, std::uint32_t group);
  std::uint32_t group_of(EngineId engine) const { return engines_[engine.value].group; }
  const std::vector<EngineId>& engines() const { return there_; }

  /// nullptr if there is none.
  PrefillJob* find(RequestId request) { return jobs_.find(request); }
  const PrefillJob* find(RequestId request) const { return jobs_.find(request); }
  /// Begins to bring it into the cache.
  void fetch(RequestId request) const { jobs_.fetch(request); }
  /// Requires: its request is not 0 and not there. Pointers to a job end with it.
  PrefillJob& add_job(PrefillJob job);
  /// Requires: it waits.
  void drop_job(RequestId request);
  std::size_t jobs() const { return jobs_.size(); }
  /// In their order. Looks at all jobs: for ends of engines only.
  std::vector<RequestId> jobs_of(EngineId engine) const;

  /// To the engine's idlest rank, `hit` tokens of it being there or on the way. Requires: it waits.
  void hand(PrefillJob& job, EngineId engine, std::uint32_t hit);
  /// So many of its tokens are computed or were hit. Less than before is ignored.
  void advance(PrefillJob& job, std::uint32_t computed);
  /// It waits again, from the beginning. Requires: it was handed.
  void take_back(PrefillJob& job);

  /// The engine of a group with the idlest rank; nothing if it has no engine. Equals by hash.
  std::optional<EngineId> idlest(std::uint32_t group, std::uint64_t hash) const;
  /// Of its idlest rank.
  Duration least_load(EngineId engine) const { return engines_[engine.value].least; }
  /// Of its fullest rank.
  Duration most_load(EngineId engine) const { return engines_[engine.value].most; }
  std::uint32_t ranks_of(EngineId engine) const {
    return static_cast<std::uint32_t>(engines_[engine.value].loads.size());
  }
  Duration rank_load(EngineId engine, std::uint32_t rank) const {
    return engines_[engine.value].loads[rank];
  }
  Duration total_load() const { return total_; }

  const PrefillCurve& curve() const { return curve_; }
  /// For jobs that come or advance from now on.
  void set_curve(const PrefillCurve& curve) { curve_ = curve; }

 private:
  /// By engine: the load of its idlest rank in the high half, that of all in the low one.
  using Order = WinnerTree<Uint128, false>;
  struct Engine {
    std::vector<Duration> loads;  ///< of its ranks; empty: not there
    Duration least;
    Duration most;
    Duration sum;
    std::uint32_t group = 0;
    std::uint32_t jobs = 0;
  };

  Uint128 key_of(EngineId engine) const;
  void set_load(EngineId engine, std::uint32_t rank, Duration change);
  Order& order_of(std::uint32_t group);

  PrefillCurve curve_;
  std::vector<Engine> engines_;
  std::vector<EngineId> there_;
  std::vector<EngineId> unused_;
  std::vector<Order> groups_;
  IdMap<RequestId, PrefillJob> jobs_;
  Duration total_;
  std::uint64_t next_order_ = 0;
};

}  // namespace troupe
