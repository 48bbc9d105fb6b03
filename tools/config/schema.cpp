#include "tools/config/schema.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/base/assert.hpp"

namespace troupe::config {

std::string_view to_string(Source source) {
  switch (source) {
    case Source::kDefault:
      return "default";
    case Source::kFile:
      return "file";
    case Source::kEnv:
      return "env";
    case Source::kFlag:
      return "flag";
  }
  return "unknown";
}

std::string_view section_of(std::string_view path) {
  return path.substr(0, path.find('.'));
}

std::string_view key_of(std::string_view path) {
  return path.substr(path.find('.') + 1);
}

Field& Field::between(double low_limit, double high_limit) {
  low = low_limit;
  high = high_limit;
  return *this;
}

Field& Field::between(Duration low_limit, Duration high_limit) {
  return between(static_cast<double>(low_limit.value), static_cast<double>(high_limit.value));
}

Field& Field::between(Bytes low_limit, Bytes high_limit) {
  return between(static_cast<double>(low_limit.value), static_cast<double>(high_limit.value));
}

Field& Field::in(std::string unit_name) {
  unit = std::move(unit_name);
  return *this;
}

Field& Field::each_of(std::vector<std::string> names) {
  TROUPE_ASSERT(is_list(), "each_of() is for lists");
  allowed_items = std::move(names);
  return *this;
}

Field& Field::hidden() {
  TROUPE_ASSERT(std::holds_alternative<std::string*>(target), "a secret is a string");
  is_secret = true;
  return *this;
}

Field& Field::path_of_file() {
  TROUPE_ASSERT(std::holds_alternative<std::string*>(target), "a path is a string");
  is_path = true;
  return *this;
}

std::string Field::env_name() const {
  std::string name = "TROUPE_";
  for (const char letter : flag) {
    name +=
        letter == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return name;
}

Field& Schema::add(std::string path, std::string flag, Target target, std::string doc) {
  TROUPE_ASSERT(path.find('.') != std::string::npos, "a path is section.key");
  TROUPE_ASSERT(find(path) == nullptr && find_flag(flag) == nullptr, "paths and flags are unique");
  fields_.push_back(
      std::make_unique<Field>(std::move(path), std::move(flag), std::move(target), std::move(doc)));
  return *fields_.back();
}

Field* Schema::find(std::string_view path) {
  for (auto& field : fields_) {
    if (field->path == path) return field.get();
  }
  return nullptr;
}

Field* Schema::find_flag(std::string_view flag) {
  for (auto& field : fields_) {
    if (field->flag == flag) return field.get();
  }
  return nullptr;
}

bool Schema::has_section(std::string_view section) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const auto& field) { return section_of(field->path) == section; });
}

std::vector<std::string> Schema::paths() const {
  std::vector<std::string> result;
  for (const auto& field : fields_) result.push_back(field->path);
  return result;
}

std::vector<std::string> Schema::sections() const {
  std::vector<std::string> result;
  for (const auto& field : fields_) {
    const std::string section(section_of(field->path));
    if (result.empty() || result.back() != section) result.push_back(section);
  }
  return result;
}

}  // namespace troupe::config
