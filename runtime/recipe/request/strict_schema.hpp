// Strict schemas (`strict: true`): the part of JSON Schema that a grammar engine follows exactly,
// and the one form that a schema takes there (recipe SPEC 3.3).
//
//   schema = object | array | string | number | integer | boolean | null | [simple types]
//          | {"anyOf": [schema with a type]} | {"$ref": text}
//
// Of an object all properties are required and no others allowed; other keywords than those printed
// are left out. What the words of errors are was observed on the reference.
// Threads: pure functions.
#pragma once

#include <optional>
#include <string>

#include "runtime/recipe/text/json_tape.hpp"

namespace troupe::recipe {

enum class SchemaUse : unsigned char { kTool, kResponseFormat };

/// Appends the normalized schema; or says why it is none, and appends nothing. Of a tool, the root
/// may be absent (kNone) or null, and may have no properties.
[[nodiscard]] std::optional<std::string> print_strict_schema(const JsonTape& tape,
                                                             JsonTape::Index root, SchemaUse use,
                                                             std::string& out);

}  // namespace troupe::recipe
