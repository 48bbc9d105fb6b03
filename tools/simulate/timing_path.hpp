// Where tables of step times lie: a file, or the name of one that tools/export-timing has made.
#pragma once

#include <string>

#include "runtime/base/result.hpp"

namespace troupe {

/// An existing path as it is, else CACHE/timing/NAME.json (the cache of tools/model/store.hpp).
/// kNotFound names the tables that are there, and how to make one.
Result<std::string> timing_path(const std::string& file_or_name);

}  // namespace troupe
