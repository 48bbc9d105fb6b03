// Where two JSON values first differ, for people: a path, what was expected, what came.
//
// Values are equal if they have the same kinds, texts and members in the same order; numbers if
// both or neither are integers and their values are equal.
//
// One placeholder: an expected string "call_..._*" stands for a generated id of a tool call, whose
// tail is 20 letters or digits and 4 digits (recipe SPEC 5.5).
#pragma once

#include <optional>
#include <string>

#include "runtime/recipe/text/json_tape.hpp"

namespace troupe {

struct JsonDifference {
  std::string where;  ///< "choices[0].delta.content, byte 12"
  std::string expected;
  std::string got;

  friend bool operator==(const JsonDifference&, const JsonDifference&) = default;
};

/// `where`: what the values are called. Requires: both indices are of their tapes.
std::optional<JsonDifference> first_difference(std::string where, const JsonTape& expected,
                                               JsonTape::Index expected_at, const JsonTape& got,
                                               JsonTape::Index got_at);

/// The same of two texts: `got` may be no JSON, which is a difference.
std::optional<JsonDifference> first_difference(std::string where, std::string_view expected,
                                               std::string_view got);

}  // namespace troupe
