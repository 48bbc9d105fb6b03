// Whether a JSON value is a JSON Schema (draft 2020-12, and what older drafts named by $schema
// allow beside it), and what the first thing wrong with it is, in the reference's words.
//
// Why: a schema goes into the prompt and to a grammar engine; one that is broken should fail here
// with its reason. Checked: the types and ranges of all keywords, at any depth, and that a $ref
// within the document leads somewhere. Not checked: whether a pattern is a regular expression.
//
// Order of errors, as the reference's: by vocabulary, then by place in the document (recipe SPEC
// 3.3; what the words are was observed on the reference). Threads: pure functions.
#pragma once

#include <optional>
#include <string>

#include "runtime/recipe/text/json_tape.hpp"

namespace troupe::recipe {

/// The first thing wrong with the schema at `index`; nothing if it is valid.
std::optional<std::string> invalid_schema(const JsonTape& tape, JsonTape::Index index);

}  // namespace troupe::recipe
