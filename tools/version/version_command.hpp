// `troupe version`: which build this is, for bug reports.
#pragma once

#include "tools/cli/command.hpp"

namespace troupe {

void add_version_command(cli::Command& program);

}  // namespace troupe
