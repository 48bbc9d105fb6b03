#include "tools/simulate/simulated_load.hpp"

#include "tools/simulate/assembly.hpp"
#include "tools/simulate/pd_cluster.hpp"

namespace troupe {

Result<TrafficPlan> simulated_load(const LoadOptions& flags, const Workload& workload,
                                   std::uint64_t seed, Images images) {
  TROUPE_TRY_ASSIGN(TrafficPlan load, traffic_plan(workload, seed));
  TROUPE_TRY_ASSIGN(load, flags.plan(std::move(load)));
  if (images == Images::kRefused && load.image_share > 0) return no_encoders();
  if (load.tools > 0) {
    return Error{Code::kInvalid,
                 "--tools: simulated prompts have no text; give the tools' tokens with --isl, or "
                 "with --prefix-groups and --prefix-len"};
  }
  return load;
}

}  // namespace troupe
