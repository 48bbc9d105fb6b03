// From flags, environment and files to a checked NodeConfig: the way in for programs and tests.
//
//   config::Inputs inputs;
//   inputs.files = {{"config/laptop.yaml", std::string(config::laptop_yaml()), true}};
//   inputs.environment = config::process_environment();
//   TROUPE_TRY_ASSIGN(auto loaded, config::load_node_config(inputs));
//   loaded.config.node.port; loaded.dump;
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.hpp"
#include "tools/config/node_config.hpp"
#include "tools/config/resolve.hpp"
#include "tools/config/schema.hpp"

namespace troupe::config {

/// Binds every key of a node to its member; the one place that knows them all.
void bind_node_config(Schema& schema, NodeConfig& config);

/// The rules between keys (node_checks.cpp): ports differ, cluster addresses are loopback, the
/// scripted device has a directory. The message names the keys and what to do.
Status check_node_config(const NodeConfig& config);

struct LoadedNodeConfig {
  NodeConfig config;
  std::string dump;  ///< what --dump-config prints
};

/// Resolves and checks. Without a file in `inputs` the defaults stand, which laptop_yaml() equals.
Result<LoadedNodeConfig> load_node_config(const Inputs& inputs);

/// config/laptop.yaml as it was at build time.
std::string_view laptop_yaml();

}  // namespace troupe::config
