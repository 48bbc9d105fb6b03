// The interface of prefill policies: who computes which prompt, and when that is decided.
//
// Two kinds stand behind it. Pulling (bucket_policy.hpp, the seed's): a request waits at the
// balancer until an engine has quota left. Pushing (push_policy.hpp): it gets its engine at once.
// What both share, loads and jobs, is in PrefillPool; a policy calls hand() and lists what it did.
//
// Threads: none. Ownership: the pool outlives the policy.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "actors/prefill_balancer/prefill_pool.hpp"
#include "runtime/base/result.hpp"

namespace troupe {

/// Requests that just got their engine and rank, in that order; look into the pool for where.
using Handouts = std::vector<RequestId>;

class PrefillPolicy {
 public:
  virtual ~PrefillPolicy() = default;
  /// A job that waits: new, or taken back from an engine that was lost.
  virtual void arrived(PrefillJob& job, Handouts& out) = 0;
  /// A job that waits ends.
  virtual void withdrawn(const PrefillJob& job) = 0;
  virtual void joined(EngineId engine, Handouts& out) = 0;
  /// Its jobs arrive again after this call.
  virtual void left(EngineId engine) = 0;
  /// Its loads have fallen.
  virtual void has_room(EngineId engine, Handouts& out) = 0;
  /// A job was computed there: its prefix is in that engine's own cache, if it has one.
  virtual void computed(const PrefillJob&) {}
  /// Called once a round (default 1 s).
  virtual void round(Handouts&) {}
  /// Whether a round should come before its time.
  virtual bool wants_round() const { return false; }
  virtual std::size_t waiting() const = 0;
};

enum class PrefillRule : std::uint8_t {
  kBuckets,     ///< the four layers of seed 000
  kRoundRobin,  ///< in turn
  kLeastWork,   ///< the engine of the idlest rank
  kTwoChoices,  ///< the better of two engines by chance
  kAffinity,    ///< by session or prefix: consistent hashing with bounded load
  kCost,        ///< the earliest end, given each engine's own cache (Mooncake)
};

std::string_view to_string(PrefillRule rule);
/// kInvalid names the rules that there are.
Result<PrefillRule> prefill_rule_from(std::string_view name);

}  // namespace troupe
