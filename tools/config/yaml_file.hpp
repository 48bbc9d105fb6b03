// A YAML file as a flat list of keys with their positions, strict enough for a configuration.
//
// Two levels: sections, and keys with a scalar or a list of scalars. Everything else that YAML has
// is refused with file:line:column: deeper maps, maps in lists, anchors and aliases (so no alias
// bomb can exist), tags, several documents, a key twice, a key without a value, tabs in the
// indentation, control characters, bytes that are not UTF-8, more than 256 KiB.
//
// yaml-cpp parses; only its event interface is used, so nothing is expanded or guessed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "tools/config/schema.hpp"

namespace troupe::config {

/// One-based, as editors count.
struct Position {
  std::size_t line = 0;
  std::size_t column = 0;
};

/// "laptop.yaml:3:9".
std::string at(std::string_view file, Position position);

struct Entry {
  std::string path;  ///< "node.port", or "node" for a section
  bool is_section = false;
  RawValue value;
  Position key_position;
  Position value_position;
};

/// The entries in file order; a section comes before its keys. `name` is for messages only.
Result<std::vector<Entry>> read_yaml(std::string_view name, std::string_view text);

}  // namespace troupe::config
