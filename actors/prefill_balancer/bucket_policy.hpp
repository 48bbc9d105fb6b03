// The seed's prefill policy: length buckets, and engines that pull (layers a and b; c is in
// PrefillPool, d in ChunkQueue).
//
// A request waits in the queue of its bucket. An engine takes requests from it in their turn, until
// its idlest rank has in hand what is its share anyway, within bounds: as much as its fullest rank
// (they wait for each other), or as what waits would give to each rank. More would take work away
// from an engine that is free earlier; less makes steps short, and their fixed time dear.
//
// A bucket is a preference, not a wall: an engine that has little in hand takes the first of
// another bucket if its turn was over a step before that of its own bucket's first.
//
// Engines whose only rank has no partners (`partners` false) differ in three points, because what
// such an engine computes is waited for by what is behind it, and by nothing else:
// - it has a quarter of a step in hand: enough to compute short prompts in one step, little for
//   the next prompt to wait for. Under load up to a whole step, as what waits would give it:
//   otherwise steps stay short, and their fixed time takes what throughput needs;
// - a turn is not when a request came but when its prompt could have been done: a request is
//   passed by those only that come within its own time, and nobody starves;
// - a prompt that fills a step starts alone: in one step with it short ones would take as long,
//   and whoever is still on the way to the engine would wait for all of its steps.
//
// An idle engine (a rank without anything) serves other buckets too: the nearest one with work, on
// equal distance the longer one. Any engine can fetch any prefix from the shared store, so that
// nothing else matters. The only engine of a bucket that had demand lately does not take longer
// prompts: short ones would wait for it (what-if W14).
//
// The start: a split that no demand stands behind is worth nothing. Engines that join before
// anybody asked are spread evenly; the first `settling` rounds with demand, of which the first
// comes early (wants_round), take the mean of what was asked and move as many engines as that says.
// The same after a pause so long that the smoothed demand is gone. Then a round moves few, so that
// one round's chance does not carry engines to and fro.
//
// Invariants
// 1. Each waiting job is in exactly the queue of its bucket, at its turn; on equal turns in the
//    order of arrival (also when it comes back from a lost engine).
// 2. Each engine is in one lane (a bucket, or neighbours that were merged); the pool's group of an
//    engine is its lane.
//
// Cost: about 1 µs a request with its progress and end (docs/balancers.md); a round looks at all
// engines. Pure; one owner.
#pragma once

#include <array>
#include <map>
#include <utility>

#include "actors/prefill_balancer/bucket_split.hpp"
#include "actors/prefill_balancer/prefill_policy.hpp"

namespace troupe {

struct BucketOptions {
  Duration least = milliseconds(40);  ///< quota that a rank may always have in hand
  Duration most = milliseconds(440);  ///< 2 step budgets (ALGOS 4.1)
  Duration step = milliseconds(220);  ///< budget of an engine's step
  bool partners = true;               ///< ranks of an engine wait for each other
  std::uint32_t moves_a_round = 1;
  double newest = 0.3;         ///< weight of the last round in the smoothed demand
  std::uint32_t settling = 3;  ///< first rounds with demand, in which any number of engines moves
  bool guard = true;           ///< a bucket's only engine takes nothing longer

  /// For engines of so many ranks whose steps take so long.
  static BucketOptions for_engines(std::uint32_t ranks, Duration step);
};

class BucketPolicy final : public PrefillPolicy {
 public:
  /// The pool is empty, or all its engines are told of by joined().
  BucketPolicy(PrefillPool& pool, const BucketOptions& options) : pool_(pool), options_(options) {}

  void arrived(PrefillJob& job, Handouts& out) override;
  void withdrawn(const PrefillJob& job) override;
  void joined(EngineId engine, Handouts& out) override;
  void left(EngineId engine) override;
  void has_room(EngineId engine, Handouts& out) override;
  void round(Handouts& out) override;
  bool wants_round() const override { return unsplit_; }
  std::size_t waiting() const override { return waiting_; }

  std::uint32_t lane_of(std::uint32_t bucket) const { return lanes_[bucket]; }
  std::uint32_t engines_of(std::uint32_t lane) const { return engines_[lane]; }

 private:
  using Queue = std::map<std::pair<Time, std::uint64_t>, RequestId>;  ///< by turn and order

  std::uint32_t lane_count() const;
  void set_lane(EngineId engine, std::uint32_t lane);
  void merge_lanes(EngineId leaving = kNoEngine);
  PrefillJob* head(std::uint32_t lane);
  void hand(PrefillJob& job, EngineId engine, Handouts& out);
  /// Up to where its idlest rank is filled.
  Duration level_of(EngineId engine, std::uint32_t lane) const;
  /// What the engine takes next; nullptr: nothing.
  PrefillJob* next_for(EngineId engine);
  /// The first of another lane, if its turn was long before that of `own`; else `own`.
  PrefillJob* or_late(PrefillJob* own, EngineId engine);
  bool may_help(EngineId engine, std::uint32_t lane) const;
  PrefillJob* head_to_help(EngineId engine);
  std::optional<EngineId> helper(const PrefillJob& job) const;
  std::vector<Lane> state_of_lanes() const;
  /// Takes what was asked in this round into the smoothed demand.
  void smooth();

  PrefillPool& pool_;
  BucketOptions options_;
  std::array<Queue, kLengthBuckets> queues_;
  std::array<std::uint32_t, kLengthBuckets> lanes_{};    ///< of each bucket
  std::array<std::uint32_t, kLengthBuckets> engines_{};  ///< in each lane
  std::array<std::uint32_t, kLengthBuckets> ranks_{};    ///< of them
  BucketDemand asked_{};                                 ///< handed out in this round, ns of quota
  BucketDemand waiting_quota_{};                         ///< of the queues, ns
  BucketDemand demand_{};                                ///< smoothed
  std::uint32_t rounds_ = 0;  ///< with demand, since there was none; no more than `settling`
  bool unsplit_ = false;      ///< somebody has asked, and no round has seen it
  std::size_t waiting_ = 0;
};

}  // namespace troupe
