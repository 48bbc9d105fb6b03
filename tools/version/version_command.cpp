#include "tools/version/version_command.hpp"

#if TROUPE_WITH_CAF
#include <caf/config.hpp>
#endif

#include <cstdio>

#include "tools/cli/cli.hpp"

namespace troupe {

namespace {

// CAF counts MAJOR * 10000 + MINOR * 100 + PATCH.
void print_caf() {
#if TROUPE_WITH_CAF
  std::printf("caf       %d.%d.%d\n", CAF_VERSION / 10000, CAF_VERSION / 100 % 100,
              CAF_VERSION % 100);
#else
  std::printf("caf       none\n");
#endif
}

}  // namespace

const char* program_version() {
  return TROUPE_VERSION;
}

void add_version_command(cli::Command& program) {
  program.command("version", "Print version, build type and compiler").run([] {
    std::printf("troupe    %s\n", program_version());
    std::printf("build     %s\n", TROUPE_BUILD_TYPE);
    std::printf("compiler  %s\n", TROUPE_COMPILER);
    print_caf();
    return cli::kOk;
  });
}

}  // namespace troupe
