#include "actors/gateway/gateway_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<RankJoined>();
template const MessageType& message_type<RankLeft>();
template const MessageType& message_type<StreamsStarted>();
template const MessageType& message_type<CancelAnswered>();
template const MessageType& message_type<GatewayHealth>();
template const MessageType& message_type<ExchangeLost>();

}  // namespace troupe
