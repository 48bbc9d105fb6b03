// A refused request as clients of each protocol expect it (text/api_error.hpp). The reference
// answers in Chat's form in all protocols (recipe SPEC 6, a quirk); so does compat mode.
//
// Threads: pure functions.
#pragma once

#include <string>

#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe::recipe {

/// JSON; sent with status error.status.
std::string error_body(Protocol protocol, Compat compat, const RequestError& error);

}  // namespace troupe::recipe
