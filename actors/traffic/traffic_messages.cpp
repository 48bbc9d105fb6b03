#include "actors/traffic/traffic_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<TrafficProgress>();
template const MessageType& message_type<TrafficEnded>();

}  // namespace troupe
