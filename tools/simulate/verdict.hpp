// Whether a finished run kept what every run must keep, and what its scenario expects.
#pragma once

#include <string>
#include <vector>

#include "tools/simulate/assembly.hpp"

namespace troupe {

/// One line a broken rule; empty: all is well. Always: one outcome a request; no crash; no
/// request, row, block, step or actor left; no pending event; no block ever orphaned.
std::vector<std::string> broken_rules(SimulatedCluster& cluster);

}  // namespace troupe
