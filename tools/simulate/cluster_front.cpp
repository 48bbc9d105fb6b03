#include "tools/simulate/cluster_front.hpp"

#include "actors/load/trace_source.hpp"
#include "tools/simulate/assembly.hpp"
#include "tools/simulate/simulated_recipe.hpp"

namespace troupe {

Result<OpenedLoad> open_load(const std::optional<TrafficPlan>& given, const Workload& workload,
                             std::uint64_t seed) {
  OpenedLoad load;
  if (given) {
    load.plan = *given;
  } else {
    TROUPE_TRY_ASSIGN(load.plan, traffic_plan(workload, seed));
  }
  TROUPE_TRY(check_plan(load.plan));
  TROUPE_TRY_ASSIGN(load.source, open_source(load.plan));
  return load;
}

NodeCore::Args front_node(const ActorRef& clients, std::uint32_t requests_max,
                          Duration request_timeout) {
  NodeCore::Args node;
  node.with_gateway = true;
  node.responses.limits.count_max = 0;  // simulated answers have no text
  node.front = clients;
  node.gateway.requests_max = requests_max;
  node.gateway.request_timeout = request_timeout;
  node.gateway.preparer = std::make_shared<const SimulatedRecipe>(1);
  return node;
}

void FrontSeen::see(const Envelope& envelope) {
  const Message& message = envelope.message;
  switch (message.kind()) {
    case Down::info.kind: {
      const Down& down = *message.as<Down>();
      if (down.reason == EndReason::kCrashed) crashes.push_back(down.detail);
      break;
    }
    case GatewayStarted::info.kind:
      gateway = message.as<GatewayStarted>()->gateway;
      break;
    case StreamsStarted::info.kind:
      streams = message.as<StreamsStarted>()->streams;
      break;
    default:
      break;
  }
}

}  // namespace troupe
