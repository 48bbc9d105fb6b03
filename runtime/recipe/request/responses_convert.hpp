// What a body of POST /v1/responses means. Source: recipe SPEC 3.
#pragma once

#include "runtime/recipe/request/conversion.hpp"
#include "runtime/recipe/request/responses_shape.hpp"

namespace troupe::recipe {

/// Fills conversion.request; false after failing. Requires: check_shape(body).
bool convert_responses(const ResponsesBody& body, Conversion& conversion);

/// What the response repeats of its request, as a JSON object. Requires: check_shape(body).
std::string responses_echo(const ResponsesBody& body, const Conversion& conversion);

}  // namespace troupe::recipe
