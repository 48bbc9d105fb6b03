// What the default mode takes of a Chat body beside what the reference knows: widespread extensions
// of other servers (vLLM, SGLang), which are done or else refused by name.
//
// Why by name: an answer must not silently differ from what was asked. Keys that nobody is known to
// mean anything by are ignored, since clients send many.
#pragma once

#include <optional>

#include "runtime/recipe/request/chat_shape.hpp"
#include "runtime/recipe/request/conversion.hpp"

namespace troupe::recipe {

/// What chat_template_kwargs says of thinking ("enable_thinking" or "thinking"), if anything.
std::optional<bool> template_thinking(const ChatBody& body, const JsonTape& tape);

/// False after failing. Requires: the default mode.
bool read_chat_extensions(const ChatBody& body, Conversion& conversion);

}  // namespace troupe::recipe
