// One member of a JSON object, found without parsing the rest: bytes are skipped, not understood.
//
// Why: a body of megabytes is parsed once, by whoever reads its meaning; a second look for one of
// its members must not cost that again.
//
// What is no JSON may give nothing, or something: whoever needs to know parses. Threads: pure.
#pragma once

#include <optional>
#include <string_view>

namespace troupe {

/// The text of the member's value, a string with its quotes; of several the last one's. Nothing if
/// there is none, or if `object` is visibly no object.
std::optional<std::string_view> json_member(std::string_view object, std::string_view name);

}  // namespace troupe
