#include "actors/responses/response_messages.hpp"

#include "runtime/actor/message_type.hpp"

namespace troupe {

template const MessageType& message_type<KeepResponse>();
template const MessageType& message_type<FetchConversation>();
template const MessageType& message_type<ConversationFetched>();
template const MessageType& message_type<AskResponse>();
template const MessageType& message_type<ResponseAnswered>();
template const MessageType& message_type<ResponsesStarted>();
template const MessageType& message_type<LogOpened>();
template const MessageType& message_type<LogWritten>();
template const MessageType& message_type<Done<LogOpened>>();
template const MessageType& message_type<Done<LogWritten>>();

}  // namespace troupe
