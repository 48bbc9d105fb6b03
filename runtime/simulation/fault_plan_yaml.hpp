// Reads the fault plan of a cluster (fault_plan.hpp has the keys).
#pragma once

#include "runtime/base/result.hpp"
#include "runtime/simulation/fault_plan.hpp"
#include "runtime/simulation/yaml_reader.hpp"

namespace troupe {

/// How many of each kind a fault may name.
struct FaultTargets {
  std::uint32_t engines = 0;
  std::uint32_t instances = 0;
  std::uint32_t gpus = 0;
  std::uint32_t encoders = 0;  ///< machines

  std::uint32_t of_kind(GroupKind kind) const;
  /// What there is of a fault's kind to choose from; 1 where there is nothing to choose.
  std::uint32_t of(const ClusterFault& fault) const;
};

/// Errors: with file:line. Names of messages are not checked: nobody here knows them.
Result<ClusterFaults> read_cluster_faults(const std::string& file, const YAML::Node& list,
                                          const FaultTargets& targets);

}  // namespace troupe
