// Who is who in a simulated cluster, for those that look into its actors: rules, faults, reports.
//
// Gateway and stream table are known from the moment that they started; groups by their hosts,
// since their lives change.
#pragma once

#include <vector>

#include "actors/pd/group_host_core.hpp"
#include "runtime/actor/world.hpp"

namespace troupe {

struct PdActors {
  World* world = nullptr;
  ActorRef node;
  ActorRef traffic;
  ActorRef route;
  ActorRef gateway;
  ActorRef streams;
  ActorRef prefill_balancer;
  ActorRef decode_balancer;
  ActorRef vision_balancer;  ///< nobody: there are no encoders
  ActorRef fabric;
  std::vector<ActorRef> engines;    ///< their hosts
  std::vector<ActorRef> instances;  ///< their hosts
  std::vector<ActorRef> encoders;   ///< the hosts of their machines

  /// nullptr if it is not alive. Requires: it is a Core.
  template <class Core>
  Core* find(const ActorRef& ref) const {
    Actor* actor = world->find(ref);
    return actor == nullptr ? nullptr : &core_of<Core>(*actor);
  }
  /// The group that a host has now; nullptr while it starts.
  template <class Core>
  Core* group(const ActorRef& host) const {
    const GroupHostCore* core = find<GroupHostCore>(host);
    return core == nullptr ? nullptr : find<Core>(core->group());
  }
};

}  // namespace troupe
