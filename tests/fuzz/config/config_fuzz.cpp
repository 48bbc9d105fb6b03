// Any bytes as a configuration file: an error with a position or a configuration whose dump reads
// back as the same configuration; never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tools/config/node_schema.hpp"

using namespace troupe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  config::Inputs inputs;
  inputs.files = {{"fuzz.yaml", std::string(reinterpret_cast<const char*>(data), size), true}};
  const auto first = config::load_node_config(inputs);
  if (!first.ok()) {
    if (first.error().message.empty()) std::abort();
    return 0;
  }
  if (!first->config.node.admin_token.empty()) return 0;  // masked, so it does not read back
  inputs.files.front().text = first->dump;
  const auto second = config::load_node_config(inputs);
  if (!second.ok() || second->dump != first->dump) std::abort();
  return 0;
}
