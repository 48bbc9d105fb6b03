// Fills a schema from its sources, with one precedence: flag > environment > file > default.
//
// Every problem of all sources is reported at once, one a line, so that a user fixes a file in one
// go. Nothing is guessed: an unknown key, a wrong type or a value out of range is a refusal that
// names place, key, expectation and the nearest valid key. After an error the bound struct must not
// be used.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "tools/config/schema.hpp"

namespace troupe::config {

/// Names and values, only those whose name starts with TROUPE_.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// Of this process, sorted by name.
Environment process_environment();

struct ConfigText {
  std::string name;  ///< for messages; relative paths of fields count from its folder
  std::string text;
  bool is_built_in = false;  ///< its values show as defaults
};

struct FlagValue {
  std::string flag;  ///< without dashes
  std::string text;  ///< lists: separated by commas
};

struct Inputs {
  std::vector<ConfigText> files;  ///< later ones win
  Environment environment;
  std::vector<FlagValue> flags;
};

/// TROUPE_* names that are no field but mean something to Troupe, its build or its tests. The last
/// may end in '*'.
const std::vector<std::string>& other_variables();

/// Requires: all flags of `inputs` are fields of the schema.
Status resolve(Schema& schema, const Inputs& inputs);

}  // namespace troupe::config
