// The texts of actors/gateway/openapi/*.json, which CMake puts into the program. Internal.
#pragma once

#include <array>
#include <string_view>

namespace troupe {

extern const std::string_view kOpenapiFrame;
extern const std::array<std::string_view, 5> kOpenapiSchemas;  ///< objects: a schema a member

}  // namespace troupe
