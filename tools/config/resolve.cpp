#include "tools/config/resolve.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "runtime/base/assert.hpp"
#include "runtime/base/nearest.hpp"
#include "tools/config/scalar.hpp"
#include "tools/config/yaml_file.hpp"

namespace troupe::config {

namespace {

// More problems than this are counted, not listed: a terminal has about so many lines.
constexpr std::size_t kListedProblems = 20;

class Problems {
 public:
  void add(std::string text) { lines_.push_back(std::move(text)); }

  Status status() const {
    if (lines_.empty()) return ok_status();
    std::string message;
    for (std::size_t i = 0; i < std::min(lines_.size(), kListedProblems); ++i) {
      message += (i == 0 ? "" : "\n") + lines_[i];
    }
    if (lines_.size() > kListedProblems) {
      message += "\n... and " + std::to_string(lines_.size() - kListedProblems) + " more";
    }
    return Error{Code::kInvalid, message};
  }

 private:
  std::vector<std::string> lines_;
};

RawValue split(const Field& field, const std::string& text) {
  if (!field.is_list()) return {{text}, false, false};
  RawValue value{{}, true, false};
  std::size_t start = 0;
  while (!text.empty() && start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    value.items.push_back(text.substr(start, comma - start));
    start = comma + 1;
  }
  return value;
}

// What the writer of an unknown key meant: a key of the same section if one is near, else the
// nearest of all by its last part ("port" at top level is node.port).
std::string suggest_key(const Schema& schema, const std::string& path) {
  std::vector<std::string> same_section;
  std::vector<std::string> keys;
  for (const std::string& known : schema.paths()) {
    if (section_of(known) == section_of(path)) same_section.push_back(known);
    keys.emplace_back(key_of(known));
  }
  if (!same_section.empty()) return *nearest(path, same_section);
  const auto key = nearest(key_of(path), keys);
  const auto index = std::find(keys.begin(), keys.end(), *key) - keys.begin();
  return schema.paths()[static_cast<std::size_t>(index)];
}

std::string unknown_key(const Schema& schema, const Entry& entry) {
  if (entry.is_section) {
    const auto sections = schema.sections();
    std::string known;
    for (const std::string& section : sections) known += (known.empty() ? "" : ", ") + section;
    return entry.path + ": unknown section; expected one of " + known + "; the nearest is " +
           nearest(entry.path, sections).value_or("none");
  }
  return entry.path + ": unknown key; the nearest valid key is " + suggest_key(schema, entry.path);
}

void set_origin(Field& field, Source source, std::string origin) {
  field.source = source;
  field.origin = std::move(origin);
}

// A relative path in a file counts from that file's folder.
void anchor_path(Field& field, const ConfigText& file) {
  auto* text = std::get<std::string*>(field.target);
  const std::filesystem::path path(*text);
  if (text->empty() || path.is_absolute() || file.is_built_in) return;
  *text = (std::filesystem::path(file.name).parent_path() / path).lexically_normal().string();
}

void apply_entry(Schema& schema, const ConfigText& file, const Entry& entry, Problems& problems) {
  const std::string key_place = at(file.name, entry.key_position);
  if (entry.is_section) {
    if (!schema.has_section(entry.path))
      problems.add(key_place + ": " + unknown_key(schema, entry));
    return;
  }
  const bool has_section = entry.path.find('.') != std::string::npos;
  if (has_section && !schema.has_section(section_of(entry.path))) return;  // reported already
  if (!has_section && schema.has_section(entry.path)) {
    return problems.add(at(file.name, entry.value_position) + ": " + entry.path +
                        ": expected keys below this section, found a value");
  }
  Field* field = schema.find(entry.path);
  if (field == nullptr) return problems.add(key_place + ": " + unknown_key(schema, entry));
  const std::string place = at(file.name, entry.value_position);
  if (const Status status = field->assign(entry.value); !status.ok()) {
    return problems.add(place + ": " + entry.path + ": " + status.error().message);
  }
  if (field->is_path) anchor_path(*field, file);
  if (!file.is_built_in) set_origin(*field, Source::kFile, place);
}

bool is_other_variable(const std::string& name) {
  for (const std::string& known : other_variables()) {
    if (known.back() == '*' && name.starts_with(known.substr(0, known.size() - 1))) return true;
    if (known == name) return true;
  }
  return false;
}

void apply_environment(Schema& schema, const Environment& environment, Problems& problems) {
  std::vector<std::string> known = other_variables();
  for (const auto& field : schema.fields()) known.push_back(field->env_name());
  for (const auto& variable : environment) {
    const std::string& name = variable.first;
    const auto field = std::find_if(schema.fields().begin(), schema.fields().end(),
                                    [&](const auto& f) { return f->env_name() == name; });
    if (field == schema.fields().end()) {
      if (is_other_variable(name)) continue;
      const std::string near = *nearest(name, known);
      const std::size_t allowed = typo_distance(std::string_view(name).substr(7));
      if (edit_distance(name, near) > allowed) continue;  // another program's variable
      problems.add("environment: " + name + ": unknown variable; the nearest is " + near);
      continue;
    }
    if (const Status status = (*field)->assign(split(**field, variable.second)); !status.ok()) {
      problems.add("environment: " + name + " (" + (*field)->path + "): " + status.error().message);
      continue;
    }
    set_origin(**field, Source::kEnv, name);
  }
}

void apply_flags(Schema& schema, const std::vector<FlagValue>& flags, Problems& problems) {
  for (const FlagValue& flag : flags) {
    Field* field = schema.find_flag(flag.flag);
    TROUPE_ASSERT(field != nullptr, "the flags come from the schema");
    if (const Status status = field->assign(split(*field, flag.text)); !status.ok()) {
      problems.add("--" + flag.flag + " (" + field->path + "): " + status.error().message);
      continue;
    }
    set_origin(*field, Source::kFlag, "--" + flag.flag);
  }
}

}  // namespace

Environment process_environment() {
  Environment result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const std::size_t equals = text.find('=');
    if (!text.starts_with("TROUPE_") || equals == std::string::npos) continue;
    result.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::sort(result.begin(), result.end());
  return result;
}

const std::vector<std::string>& other_variables() {
  static const std::vector<std::string> names = {
      "TROUPE_CONFIG",  // --config of `troupe node`
      "TROUPE_CACHE",  "TROUPE_PYTHON", "TROUPE_PROGRAM", "TROUPE_LONG",     "TROUPE_SHARED",
      "TROUPE_SOURCE", "TROUPE_BUILD",  "TROUPE_URL",     "TROUPE_SANITIZE", "TROUPE_FUZZ",
      "TROUPE_TESTS",  "TROUPE_BENCH",  "TROUPE_CAF",     "TROUPE_NET*",
  };
  return names;
}

Status resolve(Schema& schema, const Inputs& inputs) {
  Problems problems;
  for (const ConfigText& file : inputs.files) {
    const auto entries = read_yaml(file.name, file.text);
    if (!entries.ok()) {
      problems.add(entries.error().message);
      continue;
    }
    for (const Entry& entry : *entries) apply_entry(schema, file, entry, problems);
  }
  apply_environment(schema, inputs.environment, problems);
  apply_flags(schema, inputs.flags, problems);
  return problems.status();
}

}  // namespace troupe::config
