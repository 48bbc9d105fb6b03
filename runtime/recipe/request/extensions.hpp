// Parameters that Chat and Completions share in default mode: vLLM's extensions, `n`, and what is
// refused by name because this server does not do it.
//
// Each reads one field into the request; false after failing. Threads: one owner.
#pragma once

#include <string_view>

#include "runtime/recipe/request/conversion.hpp"
#include "runtime/recipe/request/json_shape.hpp"

namespace troupe::recipe {

/// OpenAI's bound of `n`, and here also of all choices to all prompts of a request.
inline constexpr std::uint32_t kChoicesMax = 128;

bool read_choices(const Field<Number>& n, Conversion& conversion);
bool read_top_k(const Field<Number>& field, Conversion& conversion);
bool read_min_p(const Field<Number>& field, Conversion& conversion);
bool read_logit_bias(const Field<JsonPart>& field, Conversion& conversion);
/// Requires: stops and tokens_max are read. Stop strings end an answer whenever they come, so that
/// both together are refused.
bool read_tokens_min(const Field<Number>& field, Conversion& conversion);

/// Whatever would change the answer and is not done is named, never ignored; a value that asks for
/// what is done anyway passes.
bool refuse_unless_it_says_nothing(std::string_view name, const Field<JsonPart>& field,
                                   Conversion& conversion);

}  // namespace troupe::recipe
