// The ids of answers: "chatcmpl-", "cmpl-", "resp_" or "msg_", and 16 hexadecimal digits of the
// request's.
//
// Who knows the id of a stored response can read it, but requests are numbered one after the other:
// ids of responses that are kept end in 32 more digits, a keyed hash of the number (HMAC-SHA-256,
// cut), which nobody can guess who does not know the node's secret.
//
// Threads: pure functions.
#pragma once

#include <string>

#include "runtime/base/strong.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe {

std::string answer_id(recipe::Protocol protocol, RequestId id);

/// Requires: `secret` is not empty.
std::string stored_response_id(RequestId id, const std::string& secret);

}  // namespace troupe
