// The cost formula with the constants of a configuration, section `simulated`.
#pragma once

#include <string>

#include "runtime/simulation/cost_model.hpp"
#include "tools/config/node_config.hpp"

namespace troupe {

/// Constants that differ from the defaults are described as set by `file`.
CostModel cost_model_of(const config::SimulatedSection& simulated, const std::string& file);

}  // namespace troupe
