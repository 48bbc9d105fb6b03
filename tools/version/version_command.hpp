// `troupe version`: which build this is, for bug reports.
#pragma once

#include "tools/cli/command.hpp"

namespace troupe {

/// "0.1.0"
const char* program_version();

void add_version_command(cli::Command& program);

}  // namespace troupe
