// What the subcommands of `troupe` share: exit codes and how an error reaches the user.
//
// A subcommand is one folder tools/<name> with
//   void add_<name>_command(CLI::App& app, int& exit_code);
// which registers options and a callback; the callback does the work and sets exit_code. The list
// of subcommands is in tools/troupe/main.cpp.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "runtime/base/result.hpp"

namespace troupe::cli {

constexpr int kOk = 0;
constexpr int kFailure = 1;  ///< the work failed
constexpr int kUsage = 2;    ///< the command line, the environment or a file must be changed

/// Prints "troupe: MESSAGE" to stderr, each line with the prefix; kUsage for Code::kInvalid, else
/// kFailure.
int report(const Error& error);

/// Why the command line was refused, for the user: names the unknown word and the nearest known
/// subcommand or flag, and where help is.
std::string explain(const CLI::App& app, const CLI::ParseError& failure, int argc,
                    const char* const* argv);

}  // namespace troupe::cli
