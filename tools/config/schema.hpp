// A schema: the fields of a configuration, each bound to a member of a plain struct.
//
// Why: one line a field states its key, flag, limits, unit and meaning; parsing, precedence,
// --help,
// --dump-config and every refusal come from that line, and code reads `config.node.port`.
//
//   NodeConfig config;                       // the member initialisers are the defaults
//   Schema schema;
//   schema.add("node.port", "port", &config.node.port, "HTTP port").between(0, 65535);
//
// Invariants
//  1. Paths are "section.key", flags and paths are unique (asserted when added).
//  2. The default of a field is the value of its member at the time of add(), and is within limits.
//  3. Limits are stored as doubles: exact up to 2^53, above any limit that we set.
//
// Ownership: the schema points into the struct, which must live as long. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"

namespace troupe::config {

/// Where a value comes from; a later one wins over an earlier one.
enum class Source { kDefault, kFile, kEnv, kFlag };
std::string_view to_string(Source source);

/// An enum member: the names of its values, and access by index into them.
struct Choice {
  std::vector<std::string> names;
  std::function<void(std::size_t)> set;
  std::function<std::size_t()> get;
};

using Target = std::variant<bool*, std::int64_t*, double*, std::string*, Duration*, Bytes*,
                            std::vector<std::string>*, Choice>;

/// A value before it is typed. A quoted YAML scalar is a string, whatever it spells.
struct RawValue {
  std::vector<std::string> items;
  bool is_list = false;
  bool is_quoted = false;
};

class Field {
 public:
  Field(std::string path, std::string flag, Target target, std::string doc)
      : path(std::move(path)),
        flag(std::move(flag)),
        doc(std::move(doc)),
        target(std::move(target)) {}

  Field& between(double low, double high);
  Field& between(Duration low, Duration high);
  Field& between(Bytes low, Bytes high);
  /// Requires: a number. The unit is shown where the spelling has none ("tokens", "threads").
  Field& in(std::string unit_name);
  /// Requires: a list. Each item must be one of these, at most once; the list must not be empty.
  Field& each_of(std::vector<std::string> names);
  /// Requires: a string. Never printed: --dump-config masks it.
  Field& hidden();
  /// Requires: a string. A relative path in a file counts from that file's folder.
  Field& path_of_file();

  /// Types and checks the value, then stores it. The message says what was expected.
  Status assign(const RawValue& value);

  /// "a whole number from 0 to 65535".
  std::string expectation() const;
  /// The current value as YAML (a secret: as it is; dump masks).
  std::string current() const;
  bool is_bool() const { return std::holds_alternative<bool*>(target); }
  bool is_list() const { return std::holds_alternative<std::vector<std::string>*>(target); }
  /// "TROUPE_PORT" for the flag "port".
  std::string env_name() const;

  std::string path;
  std::string flag;
  std::string doc;
  std::string unit;
  Target target;
  bool is_secret = false;
  bool is_path = false;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::vector<std::string> allowed_items;

  Source source = Source::kDefault;
  /// "laptop.yaml:3:9", "TROUPE_PORT", "--port"; empty for a default.
  std::string origin;
};

class Schema {
 public:
  Schema() = default;
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

  /// The reference stays valid while the schema lives.
  Field& add(std::string path, std::string flag, Target target, std::string doc);

  /// An enum member with the names of its values.
  template <class Enum>
  Field& add_choice(std::string path, std::string flag, Enum* member,
                    std::vector<std::pair<std::string, Enum>> values, std::string doc);

  Field* find(std::string_view path);
  Field* find_flag(std::string_view flag);
  bool has_section(std::string_view section) const;
  std::vector<std::string> paths() const;
  std::vector<std::string> sections() const;
  const std::vector<std::unique_ptr<Field>>& fields() const { return fields_; }

 private:
  std::vector<std::unique_ptr<Field>> fields_;
};

template <class Enum>
Field& Schema::add_choice(std::string path, std::string flag, Enum* member,
                          std::vector<std::pair<std::string, Enum>> values, std::string doc) {
  Choice choice;
  std::vector<Enum> numbers;
  for (auto& [name, value] : values) {
    choice.names.push_back(std::move(name));
    numbers.push_back(value);
  }
  choice.set = [member, numbers](std::size_t index) { *member = numbers[index]; };
  choice.get = [member, numbers] {
    std::size_t index = 0;
    while (index + 1 < numbers.size() && numbers[index] != *member) ++index;
    return index;
  };
  return add(std::move(path), std::move(flag), std::move(choice), std::move(doc));
}

/// "node" of "node.port".
std::string_view section_of(std::string_view path);
/// "port" of "node.port".
std::string_view key_of(std::string_view path);

}  // namespace troupe::config
