#include "actors/rank/rank_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<SubmitRow>();
template const MessageType& message_type<CancelRow>();
template const MessageType& message_type<ParkRow>();
template const MessageType& message_type<RowRejected>();
template const MessageType& message_type<TokenBatch>();
template const MessageType& message_type<BatchTaken>();

}  // namespace troupe
