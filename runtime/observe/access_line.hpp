// An access record as one line of JSON. Pure.
//
// docs/observe.md lists the keys. Every key is in every line, null where a request has no such
// thing, so that a line can be read without knowing how its request ended; only the texts of
// prompt and answer come and go with their setting.
//
// Invariants: (1) a line is one JSON object of valid UTF-8 and one line end, whatever bytes a
// client sent: nobody can forge a second line or a terminal's control sequence; (2) a name that is
// longer than kNameBytesMax is cut.
#pragma once

#include <string>

#include "runtime/observe/access_record.hpp"

namespace troupe {

inline constexpr std::size_t kNameBytesMax = 256;

void append_access_line(std::string& out, const AccessRecord& record);

}  // namespace troupe
