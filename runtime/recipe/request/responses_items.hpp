// The input items of Responses as messages (recipe SPEC 3.4).
//
// What a model did in one turn comes as several items: reasoning, texts, calls. They are one
// assistant message, texts joined by an empty line, until something else comes; a reasoning item
// after a text or a call begins the next one. Outputs must follow a group of calls directly and
// answer each; they are put into the order of the calls.
#pragma once

#include "runtime/recipe/request/responses_tools.hpp"

namespace troupe::recipe {

/// Appends to conversion.request.conversation.messages; false after failing. `tools_refused`: the
/// tools that searches found are not loaded.
bool convert_responses_items(const List<ResponsesItem>& items, bool tools_refused,
                             ResponsesTools& tools, Conversion& conversion);

}  // namespace troupe::recipe
