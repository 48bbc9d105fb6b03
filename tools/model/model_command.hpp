// `troupe model`: pull, list and show the models that Troupe knows by name.
#pragma once

#include <CLI/App.hpp>

namespace troupe {

void add_model_command(CLI::App& app, int& exit_code);

}  // namespace troupe
