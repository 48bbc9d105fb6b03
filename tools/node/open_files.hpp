// How many files and sockets this process may hold.
#pragma once

#include <cstddef>

#include "runtime/base/result.hpp"

namespace troupe {

/// Raises the process's limit of open files, as far as the system lets it, so that `connections`
/// clients fit beside what else is open. An error names both numbers and what to do.
Status allow_connections(std::size_t connections);

}  // namespace troupe
