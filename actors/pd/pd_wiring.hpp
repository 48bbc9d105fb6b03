// Who is who in a cluster with prefill and decode apart, and what its KV weighs.
//
// Sizes (CALIB.md): 896 bytes of block KV a token (4 layers, main and indexer); a window of 20
// layers x 134 tokens x 528 bytes = 1.35 MiB. A fetch brings the prefix's window along; a push
// moves the encoder's and the decoder's.
#pragma once

#include <vector>

#include "actors/pd/pd_messages.hpp"

namespace troupe {

struct KvSizes {
  std::uint64_t token_bytes = 896;
  std::uint64_t window_bytes = 20ull * 134 * 528;
};

struct PdWiring {
  ActorRef prefill_balancer;
  ActorRef decode_balancer;
  ActorRef fabric;
  ActorRef vision_balancer;  ///< nobody: there are no encoders
  KvSizes kv;
  bool own_caches = false;  ///< prefixes are in the engines, and nowhere else
  /// Of the first member of the group on each node; the others follow.
  std::vector<PortId> first_port;

  PortId port_of(NodeId node, std::uint32_t member) const {
    TROUPE_ASSERT(node.value < first_port.size(), "groups are on nodes of the cluster");
    return PortId(first_port[node.value].value + member);
  }
};

}  // namespace troupe
