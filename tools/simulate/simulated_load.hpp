// The load of a simulated cluster: a workload of its plan, and what load flags change of it.
//
// Flags mean what they mean to `troupe traffic`. What a simulated cluster cannot play is refused,
// as it would give other figures than a server that got the same flags.
#pragma once

#include "runtime/simulation/scenario.hpp"
#include "tools/traffic/load_options.hpp"

namespace troupe {

/// Errors: a load that cannot be, a load file that cannot be read; images and tools.
Result<TrafficPlan> simulated_load(const LoadOptions& flags, const Workload& workload,
                                   std::uint64_t seed);

}  // namespace troupe
