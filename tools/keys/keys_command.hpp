// `troupe keys new NAME`: an API key for a client, and its entry for gateway.api_keys.
#pragma once

#include "tools/cli/command.hpp"

namespace troupe {

void add_keys_command(cli::Command& program);

}  // namespace troupe
