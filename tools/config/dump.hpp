// The effective configuration as a YAML file that explains itself and reads back as the same
// values.
#pragma once

#include <string>

#include "tools/config/schema.hpp"

namespace troupe::config {

/// Sections and keys in schema order; above each key what it means, what is expected, its flag and
/// variable; after it where the value comes from. A secret prints as "***", commented out if it is
/// set, so that a dump can be shown to anybody.
std::string dump(const Schema& schema);

}  // namespace troupe::config
