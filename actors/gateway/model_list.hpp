// GET /v1/models and /v1/models/NAME: what a gateway's ranks serve, in the shape that the client
// knows: Chat and Responses have OpenAI's, Messages Anthropic's.
//
// The list is one page: `limit`, `before_id` and `after_id` are not looked at and has_more is
// false.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe {

struct ModelEntry {
  std::string id;
  std::uint64_t context_tokens = 0;
};

std::string models_body(std::span<const ModelEntry> models, recipe::Protocol protocol);
std::string model_body(const ModelEntry& model, recipe::Protocol protocol);

}  // namespace troupe
