// Steps of simulated GPUs timed by a table of a real one (timing_table.hpp).
//
//   prefill rows: n = (Σq)² / Σq², Q = Σq, c = Σqc / Q   (unequal requests, TIMING.md section 6)
//   decode rows:  N = Σ tokens, context = their mean
//
// A step that holds both kinds of work depends on the table's engine:
//
//   trtllm, vllm  one pass: everything but attention for Q + N tokens at once, since weights are
//                 read once, and the attention of each kind as if alone
//   sglang        two passes, the sum of both times: its scheduler does not mix the two kinds of
//                 work unless told to (--enable-mixed-chunk, off by default)
//
// The rule for one pass is the package's own, too (run_mixed of aiconfigurator-core). Every look-up
// is counted by how well its point is founded, and reports say so.
//
// With drafts a row's tokens are the verified ones: a table then reads its KV once for each of
// them, which is too much for engines that verify in one pass (TIMING.md section 6 says by how
// much).
//
// Threads: one owner; the table may be shared.
#pragma once

#include <array>
#include <memory>

#include "runtime/simulation/group_cost.hpp"
#include "runtime/simulation/step_cost.hpp"
#include "runtime/simulation/timing_table.hpp"

namespace troupe {

struct TimingUse {
  std::uint64_t steps = 0;
  std::uint64_t mixed_steps = 0;  ///< of ranks or members
  std::uint64_t points = 0;       ///< look-ups; a mixed step makes two
  std::uint64_t measured = 0;
  std::uint64_t derived = 0;
  std::uint64_t extrapolated = 0;  ///< beyond what was measured, or beyond the grid
};

/// What an engine's host adds to each step, beside the kernels that tables know: scheduling,
/// sampling, and what it does for each row that gets a token (detokenizing, streaming).
struct HostTime {
  Duration step;
  Duration row;
  static HostTime of_us(double step, double row) {
    return {from_seconds(step / 1e6), from_seconds(row / 1e6)};
  }
};

class TimingModel final : public StepCost, public GroupCost {
 public:
  explicit TimingModel(std::shared_ptr<const TimingTable> table, HostTime host = {});

  Duration step(const StepPlan& plan) override;
  double prompts_seconds(const PromptWork& work) override { return mixed_seconds(work, {}); }
  double rows_seconds(const RowWork& work) override { return mixed_seconds({}, work); }
  double mixed_seconds(const PromptWork& prompts, const RowWork& rows) override;
  void saw_step() override { ++use_.steps; }
  std::vector<std::string> describe() const override;
  std::string extrapolation() const override;

  const TimingUse& use() const { return use_; }

 private:
  double counted(const TimedStep& step);
  /// Requires: work.tokens > 0. `more_tokens` of rows that go through the same pass.
  TimedStep prompts(const PromptWork& work, double more_tokens) const;
  double kernels_ms(const PromptWork& prompts, const RowWork& rows);

  std::shared_ptr<const TimingTable> table_;
  HostTime host_;
  bool one_pass_;  ///< whether the engine mixes both kinds of work in a pass
  TimingUse use_;
};

/// What is wrong with this many tokens of KV on each GPU of the table; empty if all fits. Counts
/// weights, buffers and KV; not activations, whose figure is not credible (TIMING.md section 3).
std::string memory_warning(const TimingTable& table, double kv_tokens);

}  // namespace troupe
