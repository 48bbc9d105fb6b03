// What a body of POST /v1/completions means.
#pragma once

#include "runtime/recipe/request/completions_shape.hpp"
#include "runtime/recipe/request/conversion.hpp"

namespace troupe::recipe {

/// False after failing.
bool convert_completions(const CompletionsBody& body, Conversion& conversion);

}  // namespace troupe::recipe
