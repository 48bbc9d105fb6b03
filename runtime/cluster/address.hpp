// Addresses of links between nodes: HOST:PORT on loopback.
//
// Why loopback only: CAF's wire protocol authenticates nobody and checks no sizes (a 32-byte packet
// can end a node), so plain TCP must not leave the machine. Mutual TLS lifts this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace troupe {

struct ClusterAddress {
  std::string host;        ///< numeric: 127.x.y.z or ::1
  std::uint16_t port = 0;  ///< when listening, 0: any free one
};

/// `what` names the setting in the error, e.g. "cluster_listen".
Result<ClusterAddress> parse_cluster_address(std::string_view what, std::string_view text);

/// "127.0.0.1:7000".
std::string to_string(const ClusterAddress& address);

}  // namespace troupe
