// One call to a node's admin port, waited for.
#pragma once

#include <string>

#include "runtime/base/result.hpp"

namespace troupe {

struct AdminTarget {
  std::string url = "http://127.0.0.1:8001";
  std::string token;
};

/// The body of a 2xx answer; anything else is an Error that says what the node said, or that nobody
/// answers there and what to check.
Result<std::string> admin_call(const AdminTarget& target, const std::string& method,
                               const std::string& path);

}  // namespace troupe
