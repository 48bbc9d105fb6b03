// What a plan must know of a load: mean lengths, what an endless prefix cache saves, and rates.
#pragma once

#include "actors/traffic/traffic_plan.hpp"

namespace troupe {

struct LoadFacts {
  std::uint64_t requests = 0;  ///< looked at
  double prompt = 0;           ///< mean tokens
  double hit = 0;              ///< share of all prompt tokens that a cache may have, 0 … 1
  double output = 0;           ///< mean tokens
  double rate = 0;             ///< requests a second; 0: the load does not say (closed loop)
  double peak_rate = 0;        ///< of the busiest minute; 0: the load is shorter

  double uncached() const { return prompt * (1 - hit); }
};

/// Looks at the load's requests, at most kFactsRequestsMax of them; later turns of sessions come
/// as if answers took no time. Errors: a damaged trace, an empty load.
constexpr std::uint64_t kFactsRequestsMax = 200'000;
Result<LoadFacts> facts_of(const TrafficPlan& plan);

}  // namespace troupe
