#include "actors/node/node_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<GatewayStarted>();
template const MessageType& message_type<PeerJoined>();
template const MessageType& message_type<PeerLost>();

}  // namespace troupe
