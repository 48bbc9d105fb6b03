// Errors as whole answers: the recipe's error object behind a status and the headers that go with
// it.
#pragma once

#include <string>

#include "actors/gateway/session_messages.hpp"
#include "runtime/recipe/api_error.hpp"

namespace troupe {

/// 503 and 429 carry Retry-After, in whole seconds.
SessionRespond error_response(std::uint64_t exchange, const ApiError& error,
                              Duration retry_after = seconds(1));
SessionRespond error_response(std::uint64_t exchange, Code code, std::string message,
                              Duration retry_after = seconds(1));

}  // namespace troupe
