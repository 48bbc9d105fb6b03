// The ids that clients see on their answers: a prefix of the protocol and the request's number in
// 16 hexadecimal digits, "chatcmpl-0012ab3400000001".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/actor/subject.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe {

/// As what the request's actor is about.
Subject answer_subject(recipe::Protocol protocol, RequestId id);
std::string answer_id(recipe::Protocol protocol, RequestId id);

/// The request of an id of any protocol, of its 16 digits alone, or of its decimal number. Numbers
/// stay below 2^53 (GatewayCore), so that the 16 digits begin with a 0, and a decimal one does not.
std::optional<RequestId> request_of(std::string_view text);

}  // namespace troupe
