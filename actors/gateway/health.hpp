// Health paths: what a node says about itself, from one value. Pure.
//
// Why apart from the gateway: these answers must come while every actor thread is busy, or an
// orchestrator kills a node for being loaded (production-stack#1016). So the gateway tells its
// state when it changes (GatewayHealth), and the HTTP host answers from that on its io thread.
//
//   path                                   starting  no rank  serving  draining
//   /live /liveness /ping                       503      200      200       200
//   /health                                     503      503      200       200
//   /ready /readiness /health/ready             503      503      200       503
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "actors/gateway/gateway_messages.hpp"

namespace troupe {

inline constexpr std::string_view kHealthPaths[] = {
    "/live", "/liveness", "/ping", "/health", "/ready", "/readiness", "/health/ready"};

struct HealthAnswer {
  std::uint16_t status = 200;
  std::string body;
};

/// Nothing for a path that is none of these.
std::optional<HealthAnswer> health_answer(std::string_view path, ServingState state);

}  // namespace troupe
