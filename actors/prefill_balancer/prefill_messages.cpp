#include "actors/prefill_balancer/prefill_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<PrefillEngineJoined>();
template const MessageType& message_type<PrefillEngineLeft>();
template const MessageType& message_type<SubmitPrefill>();
template const MessageType& message_type<PrefillAssigned>();
template const MessageType& message_type<PrefillRefused>();
template const MessageType& message_type<ReleasePrefill>();
template const MessageType& message_type<PrefillAdvanced>();
template const MessageType& message_type<PrefillCurveLearned>();
template const MessageType& message_type<PrefixBlocksChanged>();

}  // namespace troupe
