// `troupe model`: pull, list and show the models that Troupe knows by name.
#pragma once

#include "tools/cli/command.hpp"

namespace troupe {

void add_model_command(cli::Command& program);

}  // namespace troupe
