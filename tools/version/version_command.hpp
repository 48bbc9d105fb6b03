// `troupe version`: which build this is, for bug reports.
#pragma once

#include <CLI/App.hpp>

namespace troupe {

void add_version_command(CLI::App& app, int& exit_code);

}  // namespace troupe
