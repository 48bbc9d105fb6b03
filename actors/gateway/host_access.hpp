// Who may pass the front door: an answer that refuses, or the tenant that a request belongs to.
//
// With keys configured every path asks for one but those that orchestrators and scrapers use:
// health, /metrics and /version. Without keys everybody is in, as nobody in particular.
// Threads: any; the ring is immutable.
#pragma once

#include <optional>
#include <string>

#include "actors/gateway/api_keys.hpp"
#include "actors/gateway/session_messages.hpp"
#include "runtime/http/types.hpp"

namespace troupe {

struct Access {
  std::string tenant;
  std::optional<SessionRespond> refusal;  ///< 401 in the shape of the path's protocol
};

Access access_of(const KeyRing& keys, const http::Request& request, std::uint64_t exchange = 0);

}  // namespace troupe
