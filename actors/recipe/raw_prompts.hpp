// The prompts of Completions as ids, and how many tokens may answer each.
//
// Threads: pure functions; they run on the Compute pool.
#pragma once

#include <variant>
#include <vector>

#include "actors/recipe/served_models.hpp"
#include "actors/request/request_messages.hpp"

namespace troupe {

/// One an asked prompt, in order. The error names the prompt that cannot be used. Requires: the
/// request has prompts.
std::variant<std::vector<MorePrompt>, recipe::RequestError> encode_raw_prompts(
    const recipe::ConversationRequest& request, const ServedModel& model);

}  // namespace troupe
