// What all simulated clusters have in front of their GPUs: a load, clients, the node with the
// gateway; and what is read off a world's deliveries about them.
//
// Threads: none of its own. Ownership: values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/load/request_source.hpp"
#include "actors/node/node_core.hpp"
#include "actors/traffic/traffic_plan.hpp"
#include "runtime/simulation/scenario.hpp"

namespace troupe {

/// A load, and where its requests come from.
struct OpenedLoad {
  TrafficPlan plan;
  std::shared_ptr<RequestSource> source;
};

/// The load that was given, or else the workload's. Errors: it cannot be, its trace cannot be read.
Result<OpenedLoad> open_load(const std::optional<TrafficPlan>& given, const Workload& workload,
                             std::uint64_t seed);

/// The node with the gateway of a cluster whose answers have no text; `clients` are its front.
NodeCore::Args front_node(const ActorRef& clients, std::uint32_t requests_max,
                          Duration request_timeout);

/// Who the front is, and who crashed.
struct FrontSeen {
  ActorRef gateway;
  ActorRef streams;
  std::vector<std::string> crashes;

  void see(const Envelope& envelope);
};

}  // namespace troupe
