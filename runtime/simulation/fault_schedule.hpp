// When the faults of a plan begin and end, one after the other.
//
// A fault by rate is drawn as it goes: the gap to its next occurrence is exponential. Which of its
// targets is hit is drawn at the occurrence, unless the plan says it. Each fault has randomness of
// its own, so that one more fault in a plan changes nothing about the others.
//
// Invariants: moments come in the order of their times; at one time those that were scheduled
// first. Pure but for the seed; one owner.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "runtime/base/rng.hpp"
#include "runtime/simulation/fault_plan_yaml.hpp"

namespace troupe {

class FaultSchedule {
 public:
  struct Moment {
    std::uint32_t fault = 0;  ///< its place in the plan
    std::uint32_t which = 0;
    bool begins = true;
    Time until;  ///< of a beginning: when its end comes; of a kill the same moment
  };

  FaultSchedule(const ClusterFaults& faults, const FaultTargets& targets, std::uint64_t seed);

  /// Nothing: no fault is left.
  std::optional<Time> next() const;
  /// Requires: next().
  Moment take();
  /// No fault begins any more; those under way end at their time. One without an end never does.
  void stop();

 private:
  void schedule(std::uint32_t fault, Time after);

  ClusterFaults faults_;
  FaultTargets targets_;
  std::vector<Rng> rngs_;
  std::multimap<Time, Moment> moments_;
};

}  // namespace troupe
