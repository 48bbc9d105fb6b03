// What `troupe admin nodes` and `show` print. Pure: the node's JSON in, text out.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace troupe {

/// One line a node behind a header, this node first.
Result<std::string> format_nodes(std::string_view json);

/// One actor: a line each for its counters, then what it says of itself, one line a key.
Result<std::string> format_actor(std::string_view json);

}  // namespace troupe
