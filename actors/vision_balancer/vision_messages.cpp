#include "actors/vision_balancer/vision_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<EncoderMachineJoined>();
template const MessageType& message_type<EncoderMachineLeft>();
template const MessageType& message_type<EncodeImage>();
template const MessageType& message_type<EncoderChosen>();
template const MessageType& message_type<EncodeRefused>();
template const MessageType& message_type<ImageEncoded>();

}  // namespace troupe
