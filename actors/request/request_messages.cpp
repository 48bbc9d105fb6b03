#include "actors/request/request_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<Prepared>();
template const MessageType& message_type<PlaceRequest>();
template const MessageType& message_type<Placed>();
template const MessageType& message_type<NotPlaced>();
template const MessageType& message_type<CancelRequest>();
template const MessageType& message_type<Done<Prepared>>();

}  // namespace troupe
