// The cost formula with the constants of a configuration, section `simulated`.
#pragma once

#include "runtime/simulation/cost_model.hpp"
#include "tools/config/node_config.hpp"

namespace troupe {

CostModel cost_model_of(const config::SimulatedSection& simulated);

}  // namespace troupe
