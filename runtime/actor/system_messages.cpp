#include "runtime/actor/system_messages.hpp"

#include "runtime/actor/message_type.hpp"
#include "runtime/device/step.hpp"

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

template const MessageType& message_type<Started>();
template const MessageType& message_type<TimerFired>();
template const MessageType& message_type<Down>();
template const MessageType& message_type<Undeliverable>();
template const MessageType& message_type<Kill>();
template const MessageType& message_type<Drain>();
template const MessageType& message_type<Done<StepResult>>();

}  // namespace troupe
