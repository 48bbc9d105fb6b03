// The engines of a node: which device runs the ranks, and what clients may ask of it.
//
// From the configuration to devices, rank arguments and served models. Checks before anything
// starts: the model file, its architecture, the memory that weights and KV need against what the
// machine has. Errors say what to do.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/node/node_core.hpp"
#include "actors/recipe/recipe_preparer.hpp"
#include "runtime/device/device.hpp"
#include "tools/config/node_config.hpp"
#include "tools/node/measured_engine.hpp"

namespace troupe {

struct Engines {
  std::vector<std::unique_ptr<Device>> devices;  ///< one a rank
  std::vector<RankSpec> ranks;                   ///< rank i runs on device i
  std::vector<ServedModel> models;               ///< what a gateway needs to prepare requests
  std::string fingerprint;                       ///< of the weights; empty: there are none
  std::string kv_layout;                         ///< of blocks in memory; empty: they hold nothing
  std::string about;                             ///< one line for the start-up message
  std::shared_ptr<StepRecord> steps;             ///< of all ranks; null: not asked for
};

/// `with_ranks` false: a gateway whose ranks are on other nodes; only the model's vocabulary is
/// read.
Result<Engines> build_engines(const config::NodeConfig& config, bool with_ranks);

}  // namespace troupe
