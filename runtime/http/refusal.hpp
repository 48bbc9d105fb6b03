// What the server itself answers when a request breaks HTTP or a limit.
//
// The body has the shape that the OpenAI clients read:
//   {"error":{"message":…,"type":"invalid_request_error","param":null,"code":…}}
// (`service_unavailable` as type for 503, which clients retry). Messages are constants of this
// program: nothing that a client sent is echoed, so nothing needs escaping.
#pragma once

#include <string>

#include "runtime/http/types.hpp"

namespace troupe::http {

struct Refusal {
  int status = 400;
  const char* code = "bad_request";
  const char* message = "";
  Headers headers = {};  ///< e.g. retry-after, allow
};

Response to_response(const Refusal& refusal);

}  // namespace troupe::http
