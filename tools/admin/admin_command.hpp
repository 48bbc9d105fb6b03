// `troupe admin`: looks into a running node and does the few things an operator may do.
#pragma once

#include "tools/cli/command.hpp"

namespace troupe {

void add_admin_command(cli::Command& program);

}  // namespace troupe
