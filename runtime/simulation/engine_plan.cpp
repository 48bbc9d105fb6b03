#include "runtime/simulation/engine_plan.hpp"

#include "runtime/simulation/formatted.hpp"
#include "runtime/simulation/workload_yaml.hpp"
#include "runtime/simulation/yaml_reader.hpp"

namespace troupe {

namespace {

constexpr std::uint64_t kEnginesMost = 1u << 16;
constexpr std::uint64_t kTokensMost = 1u << 30;
constexpr double kMicrosMost = 1e6;

Status read_engines(const std::string& file, const YAML::Node& node, EnginePlan& plan) {
  YamlMap map(file, node, "engines");
  EngineLimits& limits = plan.limits;
  map.get("count", plan.engines, 1, kEnginesMost);
  map.get("rows_most", limits.rows_most, 1, 65'536);
  map.get("step_tokens", limits.step_tokens, 1, kTokensMost);
  map.get("kv_tokens", limits.kv_tokens, 2, std::uint64_t{1} << 40);
  map.get("block_tokens", limits.block_tokens, 1, 65'536);
  map.get("prefix_cache", limits.prefix_cache);
  map.get("queue_most", limits.queue_most, 1, kTokensMost);
  map.get("context_most", limits.context_most, 2, kTokensMost);
  if (limits.kv_tokens / limits.block_tokens > kTokensMost) {
    map.fail("block_tokens", "at most " + std::to_string(kTokensMost) + " blocks are expected");
  }
  return map.finish();
}

Result<EnginePlan> read_plan_of_engines(const std::string& file, const YAML::Node& root) {
  YamlMap map(file, root, "cluster");
  EnginePlan plan;
  map.get("name", plan.name);
  map.get("seed", plan.seed, 0, std::uint64_t{1} << 52);
  map.get("explore_ties", plan.explore_ties);
  map.get("timing", plan.timing);
  map.get("host_step_us", plan.host_step_us, 0, kMicrosMost);
  map.get("host_row_us", plan.host_row_us, 0, kMicrosMost);
  map.get("requests_max", plan.requests_max, 1, 1u << 26);
  map.get("request_timeout_ms", plan.request_timeout);
  TROUPE_TRY(read_engines(file, map.child("engines"), plan));
  TROUPE_TRY(read_workload(file, map.child("workload"), plan.workload, {}));
  TROUPE_TRY(map.finish());
  return plan;
}

}  // namespace

std::string EnginePlan::shape_text() const {
  return formatted("%u engine(s): %u rows, %u tokens a step, %llu tokens of KV", engines,
                   limits.rows_most, limits.step_tokens,
                   static_cast<unsigned long long>(limits.kv_tokens));
}

bool is_engine_plan(std::string_view text) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    return root.IsMap() && root["engines"] && root["engines"].IsMap();
  } catch (const YAML::Exception&) {
    return false;  // whoever reads it as something else says what is wrong
  }
}

Result<EnginePlan> parse_engine_plan(std::string_view text, const std::string& file) {
  TROUPE_TRY_ASSIGN(const YAML::Node root, yaml_document(file, text));
  try {
    return read_plan_of_engines(file, root);
  } catch (const YAML::Exception& failure) {
    return Error{Code::kInvalid,
                 file + ":" + std::to_string(failure.mark.line + 1) + ": not YAML: " + failure.msg};
  }
}

}  // namespace troupe
