#include "runtime/cluster/link_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<Hello>();
template const MessageType& message_type<Welcome>();
template const MessageType& message_type<Refused>();
template const MessageType& message_type<Ready>();
template const MessageType& message_type<Beat>();
template const MessageType& message_type<Out>();
template const MessageType& message_type<WatchRemote>();
template const MessageType& message_type<UnwatchRemote>();

}  // namespace troupe
