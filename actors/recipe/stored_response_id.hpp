// The id of a response that is kept: that of its answer (answer_id.hpp) and 32 more digits.
//
// Why more: who knows the id of a kept response can read it, but requests are numbered one after
// the other. The digits are a keyed hash of the number (HMAC-SHA-256, cut), which nobody can guess
// who does not know the node's secret.
//
// Threads: pure.
#pragma once

#include <string>

#include "runtime/base/strong.hpp"

namespace troupe {

/// Requires: `secret` is not empty.
std::string stored_response_id(RequestId id, const std::string& secret);

}  // namespace troupe
