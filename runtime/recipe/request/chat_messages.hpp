// The messages of a chat request, in the order in which a model is shown them: results follow the
// calls that they answer, in the order of the calls (recipe SPEC 3.4).
#pragma once

#include "runtime/recipe/request/chat_shape.hpp"
#include "runtime/recipe/request/conversion.hpp"

namespace troupe::recipe {

/// Fills conversion.request.conversation.messages; false after failing.
bool convert_chat_messages(const List<ChatMessageBody>& messages, Conversion& conversion);

}  // namespace troupe::recipe
