// What an actor is about, for lists that must not ask it: a request's actor carries the id that its
// client sees.
//
// Why not text: a list reads it while the actor runs, so that it must fit into two atomics. It is
// fixed for a life.
#pragma once

#include <cstdint>
#include <string>

namespace troupe {

struct Subject {
  const char* prefix = "";  ///< with static lifetime
  std::uint64_t number = 0;
};

/// The prefix and 16 hexadecimal digits; empty for an actor that is about nothing.
std::string to_string(const Subject& subject);

}  // namespace troupe
