// The load of a simulated cluster: a workload of its plan, and what load flags change of it.
//
// Flags mean what they mean to `troupe traffic`. What a simulated cluster cannot play is refused,
// as it would give other figures than a server that got the same flags.
#pragma once

#include "runtime/simulation/cluster_plan.hpp"
#include "runtime/simulation/engine_plan.hpp"
#include "runtime/simulation/scenario.hpp"
#include "tools/traffic/load_options.hpp"

namespace troupe {

/// Whether what is loaded encodes images.
enum class Images : std::uint8_t { kRefused, kTaken };

inline Images images_taken_by(const ClusterPlan& plan) {
  return plan.encoders.machines > 0 ? Images::kTaken : Images::kRefused;
}
inline Images images_taken_by(const EnginePlan&) {
  return Images::kRefused;
}

/// Errors: a load that cannot be, a load file that cannot be read; tools; images, unless they are
/// taken.
Result<TrafficPlan> simulated_load(const LoadOptions& flags, const Workload& workload,
                                   std::uint64_t seed, Images images = Images::kRefused);

}  // namespace troupe
