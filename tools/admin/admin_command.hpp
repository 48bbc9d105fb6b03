// `troupe admin`: looks into a running node and does the few things an operator may do.
#pragma once

#include <CLI/App.hpp>

namespace troupe {

void add_admin_command(CLI::App& app, int& exit_code);

}  // namespace troupe
