// Where a run's step times come from: the formula, or one table of a real GPU. Never a blend.
//
// "formula:v41" (or nothing) is the formula of CALIB.md with a plan's constants; anything else
// names a table: a file, or what tools/export-timing has made under that name.
//
// With a table the formula's constants say nothing about steps any more. The balancers still need a
// line to begin with, as long as they have measured nothing: take_table puts one through the
// table's points, and says so as its source. The KV of a token is the table's, too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/simulation/cluster_plan.hpp"
#include "runtime/simulation/timing_model.hpp"

namespace troupe {

struct StepTiming {
  std::shared_ptr<const TimingTable> table;  ///< nobody: the formula
  std::shared_ptr<TimingModel> model;        ///< of the table
};

/// Errors: there is no such table, it is damaged; a host's time beside the formula, which has one.
Result<StepTiming> step_timing(const std::string& source, const HostTime& host);

/// Errors: the plan sets a constant that only the formula has.
Status take_table(ClusterPlan& plan, const TimingTable& table);

/// What does not fit: memory, layouts. One a line.
std::vector<std::string> table_warnings(const ClusterPlan& plan, const TimingTable& table);

}  // namespace troupe
