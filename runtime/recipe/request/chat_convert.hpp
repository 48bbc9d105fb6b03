// What a body of POST /v1/chat/completions means. Source: recipe SPEC 3.
#pragma once

#include "runtime/recipe/request/chat_shape.hpp"
#include "runtime/recipe/request/conversion.hpp"

namespace troupe::recipe {

/// Fills conversion.request; false after failing. Requires: check_shape(body).
bool convert_chat(const ChatBody& body, Conversion& conversion);

}  // namespace troupe::recipe
