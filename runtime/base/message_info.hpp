// The identity of a message type: a number for the wire and a name for people.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe {

struct MessageInfo {
  std::uint16_t kind;
  std::string_view name;
};

}  // namespace troupe
