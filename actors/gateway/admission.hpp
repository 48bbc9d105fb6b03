// How much each tenant may use: rate, requests at one time, and its share of a full gateway. Pure.
//
// Rate: a bucket that holds a minute's requests and fills evenly, kept as the one time at which it
// is full again (the generic cell rate algorithm): exact in integers, and nothing ticks.
//
// Priority: the gateway has room for `requests_max` at once. Low ones get in while it is less than
// half full, normal ones while less than nine tenths, high ones to the end; a gateway where no
// tenant is high gives normal ones all of it. So what is important finds a place when it comes,
// without anybody being thrown out.
//
// Invariants: (1) admit() and release() pair up; (2) a refusal uses nothing up.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/gateway/api_keys.hpp"
#include "actors/gateway/session_messages.hpp"
#include "runtime/base/time.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe {

class Admission {
 public:
  enum class Outcome { kAdmitted, kRate, kConcurrent };

  struct Verdict {
    Outcome outcome = Outcome::kAdmitted;
    Duration retry_after;  ///< of a refusal
    // The bucket afterwards; limit 0: there is none.
    std::uint32_t limit = 0;
    std::uint32_t remaining = 0;
    Duration full_in;
  };

  explicit Admission(std::vector<TenantLimits> tenants);

  /// How many requests may live before one of this tenant. A tenant without an entry (no keys are
  /// configured) is a normal one without limits.
  std::uint32_t room(const std::string& tenant, std::uint32_t requests_max) const;
  Verdict admit(const std::string& tenant, Time now);
  void release(const std::string& tenant);

 private:
  struct Tenant {
    TenantLimits limits;
    Time full_at;
    std::uint32_t live = 0;
  };
  std::map<std::string, Tenant> tenants_;
  bool high_reserved_ = false;
};

/// What an answer tells the client of its bucket, in the words of its protocol. `unix_seconds`:
/// now. Empty without a limit.
HeaderList rate_headers(const Admission::Verdict& verdict, recipe::Protocol protocol,
                        std::int64_t unix_seconds);

/// 429 in the protocol's shape, with Retry-After in seconds and in milliseconds. Requires: the
/// verdict is a refusal.
SessionRespond too_many_requests(std::uint64_t exchange, const Admission::Verdict& verdict,
                                 recipe::Protocol protocol, std::int64_t unix_seconds);

}  // namespace troupe
