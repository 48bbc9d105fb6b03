#include "tools/simulate/plan_variants.hpp"

#include <yaml-cpp/yaml.h>

#include <fstream>
#include <set>
#include <sstream>

namespace troupe {

namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  if (!text.empty() && text.back() == at) parts.emplace_back();
  return parts;
}

/// Sets root[a][b][c] for the path "a.b.c". YAML nodes are references: each step is a new one.
void set(const YAML::Node& root, const std::string& path, const std::string& value) {
  std::vector<YAML::Node> nodes{root};
  const auto steps = split(path, '.');
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) nodes.push_back(nodes.back()[steps[i]]);
  nodes.back()[steps.back()] = YAML::Load(value);
}

/// A value's parts, one for each key.
std::vector<std::string> parts_of(const VariedKey& varied, const std::string& value) {
  const bool several = varied.key.find(',') != std::string::npos;
  return several ? split(value, ':') : std::vector<std::string>{value};
}

Result<AnyPlan> parse_any_plan(const std::string& text, const std::string& file) {
  if (is_engine_plan(text)) {
    TROUPE_TRY_ASSIGN(auto plan, parse_engine_plan(text, file));
    return AnyPlan(std::move(plan));
  }
  TROUPE_TRY_ASSIGN(auto plan, parse_cluster_plan(text, file));
  return AnyPlan(std::move(plan));
}

std::string text_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Result<AnyPlan> plan_with(const std::string& text, const std::string& file,
                          const std::vector<VariedKey>& keys,
                          const std::vector<std::string>& values) {
  std::string name = file;
  try {
    YAML::Node root = YAML::Load(text);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      name += (i == 0 ? " with " : " ") + keys[i].key + "=" + values[i];
      const auto paths = split(keys[i].key, ','), parts = parts_of(keys[i], values[i]);
      for (std::size_t k = 0; k < paths.size(); ++k) set(root, paths[k], parts[k]);
    }
    return parse_any_plan(YAML::Dump(root), name);
  } catch (const YAML::Exception& failure) {
    return Error{Code::kInvalid, name + ": " + failure.msg};
  }
}

}  // namespace

Result<VariedKey> parse_varied_key(const std::string& text) {
  const std::size_t equals = text.find('=');
  VariedKey varied;
  if (equals != std::string::npos) {
    varied.key = text.substr(0, equals);
    varied.values = split(text.substr(equals + 1), ',');
  }
  bool complete = !varied.key.empty() && !varied.values.empty();
  const auto keys = split(varied.key, ',');
  for (const auto& key : keys) {
    complete = complete && !key.empty();
    for (const auto& step : split(key, '.')) complete = complete && !step.empty();
  }
  for (const auto& value : varied.values) {
    const auto parts = parts_of(varied, value);
    complete = complete && parts.size() == keys.size();
    for (const auto& part : parts) complete = complete && !part.empty();
  }
  if (complete) return varied;
  return Error{Code::kInvalid, "--vary " + text +
                                   ": expected KEY=VALUE,VALUE..., for example "
                                   "prefill.engines=8,16,32, or KEY,KEY=VALUE:VALUE,..."};
}

Result<AnyPlan> load_any_plan(const std::string& file) {
  // Of a file that is no plan of engines, all that can be wrong is said there.
  const std::string text = text_of(file);
  if (is_engine_plan(text)) return parse_any_plan(text, file);
  TROUPE_TRY_ASSIGN(auto plan, load_cluster_plan(file));
  return AnyPlan(std::move(plan));
}

Result<std::vector<PlanVariant>> vary_plan(const std::string& file,
                                           const std::vector<VariedKey>& keys) {
  std::set<std::string> named;
  for (const auto& varied : keys) {
    for (const auto& key : split(varied.key, ',')) {
      if (named.insert(key).second) continue;
      return Error{Code::kInvalid, "--vary " + key + ": given twice; give all its values at once"};
    }
  }
  TROUPE_TRY(load_any_plan(file));  // what is wrong with the file itself is said of its lines
  const std::string text = text_of(file);
  std::size_t count = 1;
  for (const auto& key : keys) {
    count *= key.values.size();
    if (count > kVariantsMost) {
      return Error{Code::kInvalid,
                   "--vary: more than " + std::to_string(kVariantsMost) + " combinations"};
    }
  }
  std::vector<PlanVariant> variants;
  for (std::size_t index = 0; index < count; ++index) {
    PlanVariant variant;
    variant.values.resize(keys.size());
    std::size_t rest = index;
    for (std::size_t i = keys.size(); i-- > 0; rest /= keys[i].values.size()) {
      variant.values[i] = keys[i].values[rest % keys[i].values.size()];
    }
    TROUPE_TRY_ASSIGN(variant.plan, plan_with(text, file, keys, variant.values));
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace troupe
