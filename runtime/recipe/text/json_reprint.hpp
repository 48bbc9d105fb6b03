// JSON text printed anew in another style: key order kept, duplicate keys as one (first position,
// last value), numbers and strings in the one form of the style. Recipe SPEC 4.
#pragma once

#include <string>
#include <string_view>

#include "runtime/recipe/text/json_tape.hpp"

namespace troupe {

/// Appends `json` in `style`; false, and nothing appended, if it is not valid JSON.
[[nodiscard]] inline bool reprint_json(std::string_view json, JsonStyle style, std::string& out) {
  const auto document = JsonDocument::parse(json);
  if (document) document->tape().print(JsonDocument::kRoot, style, out);
  return document.has_value();
}

}  // namespace troupe
