// What the subcommands of `troupe` share: exit codes and how an error reaches the user.
//
// A subcommand is one folder tools/<name> with
//   void add_<name>_command(cli::Command& program);
// which adds options and what to run. The list of subcommands is in tools/troupe/main.cpp.
#pragma once

#include "runtime/base/result.hpp"
#include "tools/cli/command.hpp"

namespace troupe::cli {

constexpr int kOk = 0;
constexpr int kFailure = 1;  ///< the work failed
constexpr int kUsage = 2;    ///< the command line, the environment or a file must be changed

/// Prints "troupe: MESSAGE" to stderr, each line with the prefix; kUsage for Code::kInvalid and for
/// what was named but is not there (Code::kNotFound), else kFailure.
int report(const Error& error);

}  // namespace troupe::cli
