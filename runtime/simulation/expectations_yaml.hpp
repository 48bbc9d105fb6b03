// Reads the section `expect` of scenarios and of cluster plans.
#pragma once

#include "runtime/simulation/expectations.hpp"
#include "runtime/simulation/yaml_reader.hpp"

namespace troupe {

/// Nothing is expected where `node` is not there.
Status read_expectations(const std::string& file, const YAML::Node& node, Expectations& expect);

}  // namespace troupe
