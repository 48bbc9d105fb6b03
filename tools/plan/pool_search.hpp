// The smallest pools that keep a load's objectives, found by trying.
//
// Closed forms know no queues, no imbalance and no bursts; a simulation has them. The search begins
// where the closed form ends: as long as the objectives break it grows the pool that breaks them
// (first tokens: prefill; the others: decode); once they hold it takes GPUs away, of either pool,
// until they break again. What a layout is for: prefill engines of four GPUs (EP4), decode
// instances of at most 64 (EP64), each of equal size.
//
// Invariant: at most `trials_most` runs. Pure but for `run`.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "actors/traffic/traffic_plan.hpp"
#include "tools/simulate/plan_outcome.hpp"

namespace troupe {

struct PoolLayout {
  static constexpr std::uint32_t kEngineGpus = 4;     ///< EP4/DP4
  static constexpr std::uint32_t kInstanceLeast = 8;  ///< the smallest published: EP8
  static constexpr std::uint32_t kInstanceMost = 64;

  std::uint32_t engines = 1;
  std::uint32_t instances = 1;
  std::uint32_t ranks = kInstanceLeast;  ///< of each instance

  std::uint32_t prefill_gpus() const { return engines * kEngineGpus; }
  std::uint32_t decode_gpus() const { return instances * ranks; }
  std::uint32_t gpus() const { return prefill_gpus() + decode_gpus(); }
  friend bool operator==(const PoolLayout&, const PoolLayout&) = default;
};

/// At least so many GPUs in each pool. `instance_most`: GPUs of a decode instance.
PoolLayout layout_of(double prefill_gpus, double decode_gpus,
                     std::uint32_t instance_most = PoolLayout::kInstanceMost);

struct PoolTrial {
  PoolLayout layout;
  PlanOutcome outcome;
  bool holds = false;
};

struct PoolSearch {
  Slo slo;
  /// Answers a second in the middle of a run, at least: pools that fall behind hold no objective
  /// for long. 0: a load with times of its own, whose bursts may wait.
  double answers_least = 0;
  std::uint32_t instance_most = PoolLayout::kInstanceMost;
  unsigned trials_most = 16;
  std::function<PlanOutcome(const PoolLayout&)> run;

  /// In the order in which they ran; the first is `start`. It ends early where a run has a problem,
  /// and where more GPUs do not help.
  std::vector<PoolTrial> from(PoolLayout start) const;
};

/// Of a plan's answers at least so many keep its objectives, and no more than the rest fail.
inline constexpr double kWithinSlo = 0.95;

/// The one with the fewest GPUs of those that hold; nothing: none does.
std::optional<std::size_t> fewest_that_hold(const std::vector<PoolTrial>& trials);

}  // namespace troupe
