#include "actors/stream_table/stream_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<OpenRow>();
template const MessageType& message_type<FailRow>();
template const MessageType& message_type<CloseRow>();
template const MessageType& message_type<RowClosed>();

}  // namespace troupe
