#include "tools/cli/cli.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace troupe::cli {

int report(const Error& error) {
  std::string_view rest = error.message;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    std::fprintf(stderr, "troupe: %.*s\n", static_cast<int>(line.size()), line.data());
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  const bool wrong_input = error.code == Code::kInvalid || error.code == Code::kNotFound;
  return wrong_input ? kUsage : kFailure;
}

}  // namespace troupe::cli
