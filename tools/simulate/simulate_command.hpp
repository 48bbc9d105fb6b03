// `troupe simulate`: the whole request path on simulated GPUs, in virtual time.
//
// Prints the table of `troupe traffic`, and how it came about: seed, virtual and wall time, events,
// trace hash, cost constants with their source, and what was extrapolated. If a rule of the run or
// an expectation of the scenario is broken, it says which, how to replay it, and exits with 1.
#pragma once

#include "tools/cli/command.hpp"

namespace troupe {

void add_simulate_command(cli::Command& program);

}  // namespace troupe
