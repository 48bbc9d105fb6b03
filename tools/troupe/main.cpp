// `troupe`: one program, one subcommand a folder of tools/.
//
// Exit codes: 0 done, 1 failed, 2 the command line or the configuration must be changed.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tools/cli/cli.hpp"
#if TROUPE_WITH_CAF
#include "tools/chat/chat_command.hpp"
#include "tools/node/node_command.hpp"
#include "tools/traffic/traffic_command.hpp"
#endif
#include "tools/admin/admin_command.hpp"
#include "tools/model/model_command.hpp"
#include "tools/simulate/simulate_command.hpp"
#include "tools/version/version_command.hpp"

namespace {

constexpr const char* kAbout =
    "Troupe serves large language models on actors.\n\n"
    "Every flag can also come from the environment (--port is TROUPE_PORT).";

void add_commands(CLI::App& app, int& exit_code) {
#if TROUPE_WITH_CAF
  troupe::add_node_command(app, exit_code);
  troupe::add_chat_command(app, exit_code);
  troupe::add_traffic_command(app, exit_code);
#endif
  troupe::add_admin_command(app, exit_code);
  troupe::add_model_command(app, exit_code);
  troupe::add_simulate_command(app, exit_code);
  troupe::add_version_command(app, exit_code);
}

int run(int argc, char** argv) {
  CLI::App app{kAbout, "troupe"};
  app.require_subcommand(1);
  int exit_code = troupe::cli::kOk;
  add_commands(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    if (failure.get_exit_code() == 0) return app.exit(failure);  // --help
    if (argc < 2) {
      std::fputs(app.help().c_str(), stderr);
      return troupe::cli::kUsage;
    }
    return troupe::cli::report(
        {troupe::Code::kInvalid, troupe::cli::explain(app, failure, argc, argv)});
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    return troupe::cli::report({troupe::Code::kInternal, failure.what()});
  }
}
