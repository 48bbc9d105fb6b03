// Checks the bytes of a configuration file before a YAML parser sees them.
#pragma once

#include <string_view>

#include "runtime/base/result.hpp"

namespace troupe::config {

/// At most 256 KiB (a configuration has some hundred lines) of UTF-8 without a byte order mark or
/// control characters, and no tab before the first word of a line. The error names
/// file:line:column.
Status check_text(std::string_view name, std::string_view text);

}  // namespace troupe::config
