#include "runtime/actor/effects.hpp"

namespace troupe {

std::string_view to_string(EndReason reason) {
  switch (reason) {
    case EndReason::kStopped:
      return "stopped";
    case EndReason::kCrashed:
      return "crashed";
    case EndReason::kKilled:
      return "killed";
    case EndReason::kParentEnded:
      return "parent ended";
    case EndReason::kNodeLost:
      return "node lost";
    case EndReason::kUnknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace troupe
