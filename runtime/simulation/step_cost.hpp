// How long a step takes on a simulated GPU: the seam between simulated devices and what is known
// about real ones.
//
// Two sources implement it, and a run uses one of them, never a blend: the formula fitted to the
// seeds' figures (cost_model.hpp), and tables of step times of real GPUs (timing_model.hpp).
//
// Threads: one owner.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/time.hpp"
#include "runtime/device/step.hpp"

namespace troupe {

class StepCost {
 public:
  virtual ~StepCost() = default;
  virtual Duration step(const StepPlan& plan) = 0;
  /// What the figures are and where they come from, one a line.
  virtual std::vector<std::string> describe() const = 0;
  /// How many of the steps lay outside of what the source knows, for reports; empty if none did.
  virtual std::string extrapolation() const = 0;
};

}  // namespace troupe
