// Reads the workload section of scenarios and of cluster plans, which have further keys of theirs.
#pragma once

#include <functional>

#include "runtime/simulation/scenario.hpp"
#include "runtime/simulation/yaml_reader.hpp"

namespace troupe {

/// `more` reads keys of the caller's own; may be empty.
Status read_workload(const std::string& file, const YAML::Node& node, Workload& load,
                     const std::function<void(YamlMap&)>& more = {});

}  // namespace troupe
