// How a request ended, told once for each: what an access log needs to know from the server.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/base/time.hpp"
#include "runtime/base/trace_context.hpp"
#include "runtime/http/types.hpp"

namespace troupe::http {

struct Ended {
  enum class How : std::uint8_t {
    kAnswered,  ///< the kernel took the whole answer; of a refusal: it was made
    kGone,      ///< the client left, or was cut for taking nothing
    kCut,       ///< the caller cut the answer off
  };

  How how = How::kAnswered;
  SessionId session = {};         ///< 0: it was not handed out
  const Request* head = nullptr;  ///< of a request that was not; null: it was not understood
  TraceContext trace = {};        ///< of a request with a head that was not handed out
  int status = 0;                 ///< of the answer; 0: none began
  std::uint64_t body_bytes = 0;   ///< of the answer, without framing
  std::string_view code = {};     ///< of a refusal by the server
  Time began = {};                ///< its first byte
};

}  // namespace troupe::http
