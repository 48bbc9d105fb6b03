#include "actors/decode_balancer/decode_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<DecodeInstanceJoined>();
template const MessageType& message_type<DecodeInstanceDrains>();
template const MessageType& message_type<DecodeInstanceLeft>();
template const MessageType& message_type<ReserveDecode>();
template const MessageType& message_type<DecodeReserved>();
template const MessageType& message_type<DecodeNotReserved>();
template const MessageType& message_type<DecodeStarted>();
template const MessageType& message_type<ReleaseDecode>();
template const MessageType& message_type<DecodeReservationLost>();
template const MessageType& message_type<DecodeLoadReport>();

}  // namespace troupe
