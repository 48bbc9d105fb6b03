// Runs one vector: what the library makes of its input, in the members of the vectors' "expect".
//
//   encode, error  prompt, special_ranges_bytes, token_ids, token_ids_digest, image_sources,
//                  converted
//                  or, if the request is refused: stage, status, message, body; and if the model's
//                  prompt format cannot say it: stage "render", message
//   limits         max_tokens, or the refusal
//   tokenize       plain_ids, full_vocab_ids
//   stream         steps, finished, error, done_data, response
//
// A refusal is a result; an Error is for what keeps a vector from being run, e.g. a missing file.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/result.hpp"
#include "tools/recipe/recipe_lab.hpp"
#include "tools/recipe/vector.hpp"

namespace troupe {

/// JSON texts by name, in order.
using VectorResult = std::vector<std::pair<std::string, std::string>>;

/// The member of that name; null if there is none.
const std::string* find_member(const VectorResult& result, std::string_view name);

/// `with_ids`: also the token ids of a prompt, which need a tokenizer.
Result<VectorResult> run_vector(const Vector& vector, RecipeLab& lab, bool with_ids);

/// run_stream.cpp. Requires: vector.kind() is kStream.
Result<VectorResult> run_stream(const Vector& vector, RecipeLab& lab);

/// A request that was refused, as members of a result.
VectorResult refusal_of(const recipe::RequestError& error, recipe::Protocol protocol,
                        const RecipeLab& lab);

/// The options that the vector's "options" member asks for, over those of the lab.
Result<recipe::ConversionOptions> conversion_options_of(const Vector& vector, RecipeLab& lab);

/// Converts the vector's request; refusals are explained for the command line.
Result<std::variant<recipe::ConversationRequest, recipe::RequestError>> convert_vector(
    const Vector& vector, RecipeLab& lab);

/// The prompt as it is; `highlight`: control tokens in a terminal's reverse video. A refusal is an
/// Error. Requires: vector.kind() is kEncode or kError.
Result<std::string> prompt_text(const Vector& vector, RecipeLab& lab, bool highlight);

/// The events as a client gets them, server-sent; an error of the stream as a comment at its end.
/// A refusal is an Error. Requires: vector.kind() is kStream. run_stream.cpp.
Result<std::string> events_text(const Vector& vector, RecipeLab& lab);

}  // namespace troupe
