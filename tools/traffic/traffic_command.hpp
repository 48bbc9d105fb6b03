// `troupe traffic`: load on a server, and the table of what its clients saw.
//
// The traffic core of the simulation, live: an actor system of its own, a dialer in place of the
// gateway. Ctrl-C stops early: what is under way is left (counted as cancelled), the table comes
// all the same; a second Ctrl-C ends the program at once. Exit code 1: more than --max-error-share
// of the requests failed, or none was answered.
#pragma once

#include "tools/cli/command.hpp"

namespace troupe {

void add_traffic_command(cli::Command& program);

}  // namespace troupe
