// Steps of simulated GPUs timed by a table of a real one (timing_table.hpp).
//
//   prefill rows: n = (Σq)² / Σq², Q = Σq, c = Σqc / Q   (unequal requests, TIMING.md section 6)
//   decode rows:  N = Σ tokens, context = their mean
//
// A step that holds both kinds of work costs the sum of both, as in cost_model.hpp. Every look-up
// is counted by how well its point is founded, and reports say so.
//
// Threads: one owner; the table may be shared.
#pragma once

#include <array>
#include <memory>

#include "runtime/simulation/step_cost.hpp"
#include "runtime/simulation/timing_table.hpp"

namespace troupe {

struct TimingUse {
  std::uint64_t steps = 0;
  std::uint64_t mixed_steps = 0;
  std::uint64_t points = 0;  ///< look-ups; a mixed step makes two
  std::uint64_t measured = 0;
  std::uint64_t derived = 0;
  std::uint64_t extrapolated = 0;  ///< beyond what was measured, or beyond the grid
};

class TimingModel final : public StepCost {
 public:
  explicit TimingModel(std::shared_ptr<const TimingTable> table);

  Duration step(const StepPlan& plan) override;
  std::vector<std::string> describe() const override;
  std::string extrapolation() const override;

  const TimingUse& use() const { return use_; }

 private:
  double counted(const TimedStep& step);

  std::shared_ptr<const TimingTable> table_;
  TimingUse use_;
};

/// What is wrong with this many tokens of KV on each GPU of the table; empty if all fits. Counts
/// weights, buffers and KV; not activations, whose figure is not credible (TIMING.md section 3).
std::string memory_warning(const TimingTable& table, double kv_tokens);

}  // namespace troupe
