// What a prompt is, without an answer to it: requests that need the recipe but no rank.
//
//   POST /v1/messages/count_tokens     {"input_tokens": n}
//   POST /v1/chat/completions/render   the prompt as text and ids, and how it would be sampled
//   POST /tokenize                     vLLM's {"count","max_model_len","tokens","token_strs"}
//   POST /detokenize                   {"prompt": text}
//
// Counts are those of a generating request with the same body: both take the same way to the ids.
// A prompt that is too long for the model is counted all the same.
//
// Threads: pure functions; they run on the Compute pool.
#pragma once

#include "actors/gateway/routes.hpp"
#include "actors/recipe/served_models.hpp"
#include "actors/request/request_messages.hpp"

namespace troupe {

/// Requires: an operation of those above. The result has a reply.
Result<Prepared> answer_without_rank(Operation operation, const HttpArrived& arrived,
                                     const std::string& answer_id, const ServedModels& models);

/// A refusal in the protocol's form.
Prepared refusal_of(recipe::Protocol protocol, const recipe::RequestError& error,
                    recipe::Compat compat = recipe::Compat::kDefault);

}  // namespace troupe
