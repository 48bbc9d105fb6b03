// How long a request may live: the server's limit, or less if its client says so. Pure.
//
//   x-request-timeout-ms: 2500        a whole number of milliseconds from its arrival, at least 1
//
// A client that will not wait longer had better say so: what is computed after it left is lost, and
// a proxy in between may hide that it left. More than the server's limit means the limit. What is
// no such number is refused, not ignored: whoever sends one counts on it.
//
// `x-stainless-timeout` and `x-stainless-read-timeout` of the OpenAI and Anthropic SDKs are not
// deadlines: their default is far above any answer, they count from another moment, and the SDK
// closes the connection by itself, which ends the request.
#pragma once

#include "actors/gateway/session_messages.hpp"
#include "runtime/base/result.hpp"

namespace troupe {

Result<Duration> request_timeout(const HeaderList& headers, Duration limit);

}  // namespace troupe
