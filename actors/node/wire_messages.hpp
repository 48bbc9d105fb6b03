// The messages that may cross from one node to another: ranks' protocol and introductions.
//
// What is not listed here cannot arrive over a link. Nodes compare the list's hash when they join.
#pragma once

#include "runtime/actor/envelope.hpp"

namespace troupe {

MessageRegistry wire_messages();

}  // namespace troupe
