// `troupe simulate sweep` and `troupe simulate compare`: many plans, one table.
//
//   troupe simulate sweep --config config/sim-128.yaml --vary decode.rows_most=64,96,128
//   troupe simulate compare config/sim-96.yaml config/sim-128.yaml
//
// The table of a sweep marks the plans on the Pareto front of output tokens/s a GPU against the
// tokens/s that a user sees, among those that keep the plan's SLO for `--within` of the answers.
#pragma once

#include "tools/cli/command.hpp"
#include "tools/simulate/plan_outcome.hpp"

namespace troupe {

void add_sweep_command(cli::Command& simulate);
void add_compare_command(cli::Command& simulate);

/// Which outcomes are on the front: no other one that fits is as good in both and better in one.
std::vector<bool> pareto_front(const std::vector<PlanOutcome>& outcomes, double within);

}  // namespace troupe
