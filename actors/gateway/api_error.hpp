// Errors as API clients expect them: an HTTP status and OpenAI's error object.
#pragma once

#include <string>

#include "actors/gateway/session_messages.hpp"
#include "runtime/base/result.hpp"

namespace troupe {

/// 400 for what the client must change, 404, 503 and 504 for what may go right later, else 500.
std::uint16_t http_status(Code code);

/// {"error":{"message","type","param","code"}}
std::string error_body(Code code, std::string_view message);

/// The whole answer; kUnavailable adds Retry-After.
SessionRespond error_response(std::uint64_t exchange, Code code, std::string_view message,
                              Duration retry_after = seconds(1));

}  // namespace troupe
