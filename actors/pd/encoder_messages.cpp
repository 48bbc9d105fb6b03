#include "actors/pd/encoder_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<EncodePatches>();
template const MessageType& message_type<StopEncode>();
template const MessageType& message_type<PatchesEncoded>();
template const MessageType& message_type<EncodePending>();

}  // namespace troupe
