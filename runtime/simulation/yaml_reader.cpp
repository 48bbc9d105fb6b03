#include "runtime/simulation/yaml_reader.hpp"

#include <algorithm>

#include "runtime/base/finite_number.hpp"
#include "runtime/base/nearest.hpp"

namespace troupe {

Result<YAML::Node> yaml_document(const std::string& file, std::string_view text) {
  try {
    const std::vector<YAML::Node> all = YAML::LoadAll(std::string(text));
    if (all.size() <= 1) return all.empty() ? YAML::Node() : all.front();
    return Error{Code::kInvalid, file + ":" + std::to_string(all[1].Mark().line + 1) +
                                     ": a second document begins here; a plan is one"};
  } catch (const YAML::Exception& failure) {
    return Error{Code::kInvalid,
                 file + ":" + std::to_string(failure.mark.line + 1) + ": not YAML: " + failure.msg};
  }
}

YamlMap::YamlMap(std::string file, YAML::Node node, std::string name)
    : file_(std::move(file)), node_(std::move(node)), name_(std::move(name)) {
  if (node_.IsMap() || node_.IsNull()) return;
  problem_ = Error{Code::kInvalid, where(node_) + name_ + " is a map of keys and values"};
  node_ = YAML::Node(YAML::NodeType::Map);
}

std::string YamlMap::where(const YAML::Node& node) const {
  return file_ + ":" + std::to_string(node.Mark().line + 1) + ": ";
}

void YamlMap::fail(const std::string& key, const std::string& problem) {
  if (problem_) return;
  const YAML::Node at = node_[key];
  problem_ = Error{Code::kInvalid, where(at ? at : node_) + name_ + "." + key + ": " + problem};
}

void YamlMap::know(const std::string& key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
}

YAML::Node YamlMap::child(const std::string& key) {
  know(key);
  return node_[key];
}

void YamlMap::get(const std::string& key, std::string& value) {
  const YAML::Node node = child(key);
  if (!node) return;
  if (!node.IsScalar()) return fail(key, "text is expected");
  value = node.Scalar();
}

void YamlMap::get(const std::string& key, bool& value) {
  std::string text;
  get(key, text);
  if (text == "true") {
    value = true;
  } else if (text == "false") {
    value = false;
  } else if (has(key)) {
    fail(key, "true or false is expected");
  }
}

void YamlMap::get(const std::string& key, double& value, double least, double most) {
  std::string text;
  get(key, text);
  if (!has(key)) return;
  const std::optional<double> number = finite_number(text);
  if (!number || *number < least || *number > most) {
    char range[96];
    std::snprintf(range, sizeof range, "a number from %.15g to %.15g is expected", least, most);
    return fail(key, range);
  }
  value = *number;
}

void YamlMap::get(const std::string& key, Duration& value) {
  double ms = value.milliseconds();
  get(key, ms, 0, 1e12);
  value = from_seconds(ms / 1000);
}

Status YamlMap::finish() {
  std::vector<std::string> seen;
  for (const auto& entry : node_) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "(not text)";
    if (!problem_ && std::find(seen.begin(), seen.end(), key) != seen.end()) {
      problem_ = Error{Code::kInvalid, where(entry.first) + name_ + "." + key + " is there twice"};
    }
    seen.push_back(key);
    if (problem_ || std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::string message = where(entry.first) + "unknown key " + name_ + "." + key;
    if (const auto near = nearest(key, known_)) message += "; the nearest is " + *near;
    message += "; known:";
    for (const auto& known : known_) message += " " + known;
    problem_ = Error{Code::kInvalid, std::move(message)};
  }
  if (problem_) return *problem_;
  return ok_status();
}

}  // namespace troupe
