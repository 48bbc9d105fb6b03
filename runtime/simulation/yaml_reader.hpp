// Strict reading of small YAML maps: every problem names file:line, the key and what is expected.
//
// Usage: YamlMap map(file, node, "workload"); map.get("isl", x, 1, 1e6); …; map.finish() gives the
// first problem, among them keys that nobody asked for. Scalars only; lists are walked by the
// caller. For files of our own and of tests, not for hostile input (tools/config has that one).
#pragma once

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

/// What a file holds. Errors: with file:line, if it is no YAML, or more than one document.
Result<YAML::Node> yaml_document(const std::string& file, std::string_view text);

class YamlMap {
 public:
  YamlMap(std::string file, YAML::Node node, std::string name);

  /// A child that is itself a map or a list, or an undefined node.
  YAML::Node child(const std::string& key);
  bool has(const std::string& key) const { return static_cast<bool>(node_[key]); }

  void get(const std::string& key, std::string& value);
  void get(const std::string& key, bool& value);
  void get(const std::string& key, double& value, double least, double most);
  /// Milliseconds.
  void get(const std::string& key, Duration& value);
  template <class Integer>
  requires std::is_integral_v<Integer>
  void get(const std::string& key, Integer& value, std::uint64_t least, std::uint64_t most) {
    double number = static_cast<double>(value);
    get(key, number, static_cast<double>(least), static_cast<double>(most));
    if (number != std::floor(number)) return fail(key, "a whole number is expected");
    value = static_cast<Integer>(number);
  }
  template <class Number>
  void get(const std::string& key, std::optional<Number>& value) {
    if (!has(key)) return know(key);
    Number number{};
    if constexpr (std::is_integral_v<Number>) {
      get(key, number, 0, kMost);
    } else {
      get(key, number, 0, static_cast<double>(kMost));
    }
    value = number;
  }

  void fail(const std::string& key, const std::string& problem);
  /// ok, or the first problem.
  Status finish();

 private:
  void know(const std::string& key);
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 52;
  std::string where(const YAML::Node& node) const;

  std::string file_;
  YAML::Node node_;
  std::string name_;
  std::vector<std::string> known_;
  std::optional<Error> problem_;
};

}  // namespace troupe
