// What a body of POST /v1/messages means. Source: recipe SPEC 3.
#pragma once

#include "runtime/recipe/request/conversion.hpp"
#include "runtime/recipe/request/messages_shape.hpp"

namespace troupe::recipe {

/// Fills conversion.request; false after failing. Requires: check_shape(body).
bool convert_messages(const MessagesBody& body, Conversion& conversion);

}  // namespace troupe::recipe
