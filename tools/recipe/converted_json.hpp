// What a request became, in the words of the vectors' "converted" member (recipe SPEC section 8).
#pragma once

#include <string>

#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/conversation/rendered_prompt.hpp"

namespace troupe {

/// One JSON object, members in the order of the vectors.
std::string converted_json(const recipe::ConversationRequest& request);

/// The images of a prompt, without their data: a list of kind, detail and path.
std::string image_sources_json(const recipe::RenderedPrompt& prompt);

}  // namespace troupe
