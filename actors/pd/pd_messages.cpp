#include "actors/pd/pd_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<MoveBytes>();
template const MessageType& message_type<StopMove>();
template const MessageType& message_type<BytesMoved>();
template const MessageType& message_type<LinksChanged>();
template const MessageType& message_type<StartPrefill>();
template const MessageType& message_type<StopPrefill>();
template const MessageType& message_type<PrefillEnded>();
template const MessageType& message_type<StartDecode>();
template const MessageType& message_type<StopDecode>();
template const MessageType& message_type<DecodeEnded>();
template const MessageType& message_type<DecodeRefused>();
template const MessageType& message_type<AskGroup>();
template const MessageType& message_type<GroupHas>();
template const MessageType& message_type<GroupStopped>();

}  // namespace troupe
