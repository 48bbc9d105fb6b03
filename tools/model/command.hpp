// Runs another program to its end: no shell, a deadline, a bounded memory of what it said.
//
// stdin is empty; stdout and stderr come back together, the last 8 KiB of them. The program shares
// our process group, so that Ctrl-C reaches it too.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

struct CommandResult {
  int exit_code = 0;   ///< 128 + signal if a signal ended it
  std::string output;  ///< the end of stdout and stderr
};

/// kNotFound if there is no such program, kDeadline if it had to be killed. Requires: arguments
/// has the program's name, looked up in PATH, as its first element.
Result<CommandResult> run_command(const std::vector<std::string>& arguments, Duration deadline);

}  // namespace troupe
