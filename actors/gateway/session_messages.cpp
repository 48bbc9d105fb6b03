#include "actors/gateway/session_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<HttpArrived>();
template const MessageType& message_type<SessionAdopted>();
template const MessageType& message_type<SessionRespond>();
template const MessageType& message_type<SessionBegin>();
template const MessageType& message_type<SessionWrite>();
template const MessageType& message_type<SessionEnd>();
template const MessageType& message_type<SessionCut>();
template const MessageType& message_type<SessionGone>();
template const MessageType& message_type<SessionDrained>();

}  // namespace troupe
