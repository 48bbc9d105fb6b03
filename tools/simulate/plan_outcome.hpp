// What one run of a plan came to, in the figures by which plans are compared.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/simulate/pd_cluster.hpp"
#include "tools/simulate/plan_variants.hpp"

namespace troupe {

/// One figure: how it is called and printed.
struct PlanFigure {
  const char* title;
  const char* key;
  int decimals;
  double value;
};

struct PlanOutcome {
  std::uint32_t gpus = 0;
  double requests_per_s = 0;
  double sustained_requests_per_s = 0;  ///< answer_rate.hpp
  double tokens_per_s_per_gpu = 0;      ///< output tokens over all GPUs
  double user_tokens_per_s = 0;         ///< median of what a client sees after its first token
  double ttft_p50_ms = 0;
  double ttft_p95_ms = 0;
  double ttft_p99_ms = 0;
  double ttft_p99_short_ms = 0;  ///< of prompts below 16K tokens
  double tpot_p50_ms = 0;
  double tpot_p95_ms = 0;
  double tpot_p99_ms = 0;
  double good_share = 1;        ///< of the answered, within the plan's SLO; 1: it has none
  double error_share = 0;       ///< failed, timed out or empty
  std::string complaint;        ///< what most of those have met; empty: there are none
  double prefill_busy = 0;      ///< engines that do both: of these
  double decode_busy = 0;       ///< likewise
  double decode_imbalance = 1;  ///< slowest over mean of a step
  double hit_share = 0;
  std::string problem;  ///< why it has no figures, or which rule it broke; empty: none

  std::vector<PlanFigure> figures() const;
};

/// A plan, and its load if that is not the plan's own.
struct PlanRun {
  AnyPlan plan;
  std::optional<TrafficPlan> load;
};

/// Runs it on the calling thread. Never fails: see `problem`.
PlanOutcome run_plan(const PlanRun& run);

/// The outcomes of all runs, in their order, on at most `threads` threads; `done` is called after
/// each, one at a time.
std::vector<PlanOutcome> run_plans(const std::vector<PlanRun>& runs, unsigned threads,
                                   const std::function<void(std::size_t ended)>& done);

}  // namespace troupe
