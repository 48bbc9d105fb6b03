// The protocol of a node's root actor.
//
//   host → node          Drain (shutdown), PeerJoined, PeerLost (from the link)
//   node → front         GatewayStarted: whom the HTTP endpoint (or the traffic core) talks to
//   node → peer node     RankJoined: a rank of this node, and its new lives
//   node → gateway       RankJoined, RankLeft, StreamsStarted
#pragma once

#include "actors/gateway/gateway_messages.hpp"

namespace troupe {

/// The node's gateway has begun a life.
struct GatewayStarted {
  static constexpr MessageInfo info{0x0601, "gateway_started"};
  ActorRef gateway;
  static void fields(auto& self, auto&& visit) { visit("gateway", self.gateway); }
};

/// A link to another node is up; `root` is that node's root actor.
struct PeerJoined {
  static constexpr MessageInfo info{0x0602, "peer_joined"};
  ActorRef root;
  static void fields(auto& self, auto&& visit) { visit("root", self.root); }
};

/// The link to it is gone, or it is silent: its actors are lost.
struct PeerLost {
  static constexpr MessageInfo info{0x0603, "peer_lost"};
  ActorRef root;
  static void fields(auto& self, auto&& visit) { visit("root", self.root); }
};

using NodeProtocol = Protocol<Started, PeerJoined, PeerLost, RankJoined, RankLeft, TimerFired, Down,
                              Undeliverable, Drain>;

}  // namespace troupe
