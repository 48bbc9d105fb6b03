// The answer of `troupe plan --simulate`: what the closed form says, tried out in virtual time.
//
// Asked for the GPUs of a load, it searches the smallest pools that keep the objectives
// (pool_search.hpp). Asked what so many GPUs take, it gives them more than that and counts.
//
// The simulated cluster is that of `troupe simulate --config` (docs/simulation.md): its steps cost
// what the closed form says, and queues, imbalance, fetches, pushes and bursts come on top. Decode
// instances between EP8 and EP64 have the step time between the two published points, by the
// experts that a GPU reads.
#pragma once

#include "actors/traffic/traffic_plan.hpp"
#include "tools/plan/plan_answer.hpp"
#include "tools/plan/pool_search.hpp"

namespace troupe {

struct SimulatedQuestion {
  PlanQuestion plan;
  TrafficPlan load;             ///< as the flags say it
  bool hit_given = false;       ///< plan.load.hit is what the user says, not what the load shares
  bool requests_given = false;  ///< load.num_requests likewise
  double efficiency = 1;        ///< of the simulated steps
};

struct SimulatedAnswer {
  std::vector<PoolTrial> trials;
  std::optional<std::size_t> best;  ///< the recommended one; of a given number of GPUs the only one
  std::string sentence;             ///< for people
  TrafficPlan load;                 ///< that each trial had
  ClusterPlan plan;                 ///< of the recommended one, or the last
};

/// The plan of a cluster of this layout, as the closed form was asked for it.
ClusterPlan cluster_of(const SimulatedQuestion& question, const PlanSize& size,
                       const PoolLayout& layout);

/// Errors: a load without rate or objectives, one that no simulation plays.
Result<SimulatedAnswer> answer_by_simulation(const SimulatedQuestion& question,
                                             const PlanSize& size);

std::string trials_text(const SimulatedAnswer& answer);

}  // namespace troupe
