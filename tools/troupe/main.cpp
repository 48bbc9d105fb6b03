// `troupe`: one program, one subcommand a folder of tools/.
//
// Exit codes: 0 done, 1 failed, 2 the command line, the configuration or a file that they name must
// be changed.
#include <cstdio>
#include <exception>
#include <string>

#include "tools/cli/cli.hpp"
#if TROUPE_WITH_CAF
#include "tools/chat/chat_command.hpp"
#include "tools/node/node_command.hpp"
#include "tools/traffic/traffic_command.hpp"
#endif
#include "tools/admin/admin_command.hpp"
#include "tools/keys/keys_command.hpp"
#include "tools/model/model_command.hpp"
#include "tools/plan/plan_command.hpp"
#include "tools/recipe/recipe_command.hpp"
#include "tools/simulate/simulate_command.hpp"
#include "tools/version/version_command.hpp"

namespace {

constexpr const char* kAbout =
    "Troupe serves large language models on actors.\n\n"
    "Every flag of `troupe node` can also come from the environment (--port is TROUPE_PORT).";

void add_commands(troupe::cli::Command& program) {
#if TROUPE_WITH_CAF
  troupe::add_node_command(program);
  troupe::add_chat_command(program);
  troupe::add_traffic_command(program);
#endif
  troupe::add_admin_command(program);
  troupe::add_keys_command(program);
  troupe::add_model_command(program);
  troupe::add_plan_command(program);
  troupe::add_recipe_command(program);
  troupe::add_simulate_command(program);
  troupe::add_version_command(program);
}

int run(int argc, char** argv) {
  troupe::cli::Program program("troupe", kAbout);
  program.root().require_command();
  program.version(std::string("troupe ") + troupe::program_version());
  add_commands(program.root());
  if (argc < 2) {
    std::fputs(program.root().help().c_str(), stderr);
    return troupe::cli::kUsage;
  }
  const auto exit_code = program.run(argc, argv);
  return exit_code.ok() ? *exit_code : troupe::cli::report(exit_code.error());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    return troupe::cli::report({troupe::Code::kInternal, failure.what()});
  }
}
