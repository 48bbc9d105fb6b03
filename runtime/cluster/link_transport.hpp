// The seam between the link's logic and whoever carries its bytes (CAF: caf_link.hpp).
#pragma once

#include <string>

#include "runtime/cluster/membership_core.hpp"

namespace troupe {

/// Called from the link's thread only; must not block and not call back.
class LinkTransport {
 public:
  /// Answered by LinkWorker::connected or dial_failed, once, later.
  virtual void dial() = 0;
  /// A piece of a frame; `more`: the frame goes on. In order for one connection; to a connection
  /// that is gone it does nothing.
  virtual void send(ConnectionId to, std::string piece, bool more) = 0;

 protected:
  ~LinkTransport() = default;
};

}  // namespace troupe
