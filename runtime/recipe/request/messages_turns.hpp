// The messages of a Messages request as turns of a conversation (recipe SPEC 3.4).
//
// Each block of a user's message is a message of its own: a tool's result, a text, an image. An
// assistant's calls must be answered by the next user message, results first; they are put into the
// order of the calls. System messages may stand anywhere; V4 sees them as wrapped user texts.
#pragma once

#include "runtime/recipe/request/conversion.hpp"
#include "runtime/recipe/request/messages_shape.hpp"
#include "runtime/recipe/request/tools.hpp"

namespace troupe::recipe {

/// Appends to conversion.request.conversation.messages; false after failing. `tools`: the declared
/// ones, which messages may refer to. `tools_refused`: none is loaded.
bool convert_messages_turns(const List<MessagesMessage>& messages, const ToolSet& tools,
                            bool tools_refused, Conversion& conversion);

}  // namespace troupe::recipe
