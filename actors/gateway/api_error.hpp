// Errors as whole answers: the error object of the client's protocol behind a status and the
// headers that go with it.
#pragma once

#include <string>

#include "actors/gateway/routes.hpp"
#include "actors/gateway/session_messages.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/text/api_error.hpp"

namespace troupe {

/// 503 and 429 carry Retry-After, in whole seconds; what is 503 elsewhere is 529 to Anthropic's
/// clients (overloaded_error).
SessionRespond error_response(std::uint64_t exchange, recipe::Protocol protocol,
                              const ApiError& error, Duration retry_after = seconds(1));
SessionRespond error_response(std::uint64_t exchange, recipe::Protocol protocol, Code code,
                              std::string message, Duration retry_after = seconds(1));

}  // namespace troupe
