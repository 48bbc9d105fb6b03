// `troupe node`: starts a node and serves until SIGINT or SIGTERM.
//
// The first signal drains (node.drain_timeout), a second ends at once. Exit code 0 after an
// asked-for stop, 1 if the node could not start or its root ended by itself.
#pragma once

#include "tools/cli/command.hpp"

namespace troupe {

void add_node_command(cli::Command& program);

}  // namespace troupe
