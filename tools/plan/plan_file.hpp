// A cluster that `troupe plan --simulate` tried, as a plan for `troupe simulate --config`.
//
// Why: what it chose beside the number of GPUs (the step's budget, rows a GPU, the step time
// between EP8 and EP64) decides the figures as much, and nobody would write it down right by hand.
#pragma once

#include <string>

#include "actors/traffic/traffic_plan.hpp"
#include "runtime/simulation/cluster_plan.hpp"

namespace troupe {

/// The plan in YAML, as cluster_plan_yaml.cpp reads it; of the load what a plan's workload can say.
/// `words`: the load's flags, which the rest of it takes.
std::string plan_file(const ClusterPlan& plan, const TrafficPlan& load, const std::string& words);

}  // namespace troupe
