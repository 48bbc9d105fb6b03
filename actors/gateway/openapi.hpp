// GET /openapi.json: the OpenAPI 3.1 document of every path that a gateway serves.
//
// It is written once, as data: openapi/frame.json (paths, and what they share) and the schemas of
// each family beside it. CMake puts them into the program. HEAD and OPTIONS, which are the same
// everywhere, are added here.
//
// It is kept true by tests: openapi_test.cpp compares its paths with routes.hpp and its bodies,
// member by member, with the shapes that the recipe reads; tests/live/test_openapi.py asks a node
// whether it keeps to it.
//
// Threads: pure.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// `version`: of the program.
std::string openapi_document(std::string_view version);

}  // namespace troupe
