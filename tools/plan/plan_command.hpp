// `troupe plan`: how many prefill and decode GPUs a load needs, in closed form and, with
// --simulate, as a search in virtual time.
//
// The load is said as in `troupe traffic`: lengths and a rate, sessions, or a trace, whose prefix
// hits an endless cache counts. Nothing is sent and nothing runs; docs/what-if.md has worked
// questions.
#pragma once

#include "tools/cli/command.hpp"

namespace troupe {

void add_plan_command(cli::Command& program);

}  // namespace troupe
