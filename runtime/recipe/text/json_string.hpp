// Strings of JSON, for all that writes JSON here: prompts, schemas, events, bodies, errors.
//
// Escaped are '"', '\' and controls below 0x20, the shortest way; all else stands as it is, in one
// line. What a model says may be any bytes: wrong UTF-8 becomes U+FFFD, so that what we send can
// always be read.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// `text` between quotes.
void append_json_string(std::string& out, std::string_view text);

}  // namespace troupe
