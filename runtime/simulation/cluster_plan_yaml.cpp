// Reads a ClusterPlan from YAML.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/simulation/cluster_plan.hpp"
#include "runtime/simulation/workload_yaml.hpp"
#include "runtime/simulation/yaml_reader.hpp"

namespace troupe {

namespace {

constexpr std::uint64_t kPlanMany = 1u << 20;
/// 32 times the largest cluster that the bench runs; each costs memory before anything happens.
constexpr std::uint32_t kGpusMost = 1u << 17;

struct Range {
  double least = 0;
  double most = 0;
};

/// A step, a fetch, a push must end within the 292 years that a time can tell, whatever else the
/// plan says; a link carries something, and a share is a share.
constexpr Range kMs = {0, 1e5};
constexpr Range kMicros = {0, 1e6};
constexpr Range kSpeed = {1e-3, 1e9};
constexpr Range kShare = {0, 1};
constexpr Range kFitted = {0, 100};
const std::pair<std::string_view, Range> kRanges[] = {
    {"prefill_a_ms", kMs},
    {"prefill_b_us", kMicros},
    {"prefill_g", {0, 1e-6}},
    {"decode_t0_ms", kMs},
    {"decode_k_ms", kMs},
    {"decode_p1_us", kMicros},
    {"decode_p2_us", kMicros},
    {"decode_knee", {0, 1e9}},
    {"decode_extra_ms", kMs},
    {"decode_efficiency", {0.01, 1}},
    {"draft_m", kFitted},
    {"draft_c", kFitted},
    {"draft_d", kFitted},
    {"draft_chance", kShare},
    {"draft_overhead", {0, 0.99}},
    {"nic_gb_s", kSpeed},
    {"spine_gb_s", {0, 1e9}},
    {"storage_read_gib_s", kSpeed},
    {"storage_write_gib_s", kSpeed},
    {"storage_mops", kSpeed},
    {"storage_access_us", kMicros},
    {"storage_jitter_us", kMicros},
    {"kv_token_bytes", {1, 1e6}},
    {"window_miss", kShare},
    {"window_life_s", {0, 1e8}},
    {"start_up_s", {0, 1e6}},
};

Range range_of(std::string_view name) {
  const auto* at = std::find_if(std::begin(kRanges), std::end(kRanges),
                                [&](const auto& one) { return one.first == name; });
  TROUPE_ASSERT(at != std::end(kRanges), "every constant of a plan has a range");
  return at->second;
}

/// 0 stands for full bisection, so that its least is two things.
const char* const kNarrowSpine = "0 (full bisection), or at least 0.001, is expected";
bool too_narrow(const PlanConstant& one) {
  return one.name == "spine_gb_s" && one.value > 0 && one.value < kSpeed.least;
}

/// GPUs that a plan may name. What the figures are: memory and its bandwidth as their vendors say.
const Hardware kHardware[] = {
    {"B200", 180, 8, 50, "vendor's data sheet; 8 TB/s as CALIB.md assumes", true},
    {"H200", 141, 4.8, 50, "vendor's data sheet", false},
    {"H100", 80, 3.35, 50, "vendor's data sheet", false},
};

Status read_hardware(const std::string& file, const YAML::Node& node, ClusterPlan& plan) {
  if (!node) return ok_status();
  if (node.IsScalar()) {
    const std::string name = node.as<std::string>();
    std::string known;
    for (const Hardware& one : kHardware) {
      if (one.name == name) {
        plan.hardware = one;
        return ok_status();
      }
      known += " " + one.name;
    }
    return Error{Code::kInvalid, file + ":" + std::to_string(node.Mark().line + 1) +
                                     ": hardware: there is no " + name +
                                     "; these are known:" + known +
                                     "; or give {name, hbm_gb, hbm_tb_s, nic_gb_s, source}"};
  }
  YamlMap map(file, node, "hardware");
  plan.hardware.fitted = false;
  plan.hardware.source = "set by " + file;
  map.get("name", plan.hardware.name);
  map.get("hbm_gb", plan.hardware.hbm_gb, 1, 1e5);
  map.get("hbm_tb_s", plan.hardware.hbm_tb_s, 0.01, 1e4);
  map.get("nic_gb_s", plan.hardware.nic_gb_s, 0.01, 1e5);
  map.get("source", plan.hardware.source);
  return map.finish();
}

/// What follows from the GPU, before constants of the file's own.
void take_hardware(ClusterPlan& plan) {
  const Hardware& gpu = plan.hardware;
  constexpr double kContext = 131'072;
  const double k_ms = plan.constant("kv_token_bytes") * kContext / (gpu.hbm_tb_s * 1e12) * 1e3;
  plan.set_constant("decode_k_ms", k_ms, "kv_token_bytes at the bandwidth of " + gpu.name);
  plan.set_constant("nic_gb_s", gpu.nic_gb_s, gpu.name + ": " + gpu.source);
  if (gpu.fitted) return;
  for (PlanConstant& one : plan.constants) {
    if (one.source.starts_with("fit ")) one.source = "EXTRAPOLATED from another GPU: " + one.source;
  }
}

Status read_constants(const std::string& file, const YAML::Node& node, ClusterPlan& plan) {
  if (!node) return ok_status();
  YamlMap map(file, node, "constants");
  for (PlanConstant& one : plan.constants) {
    if (!map.has(one.name)) continue;
    one.given = true;
    if (node[one.name].IsScalar()) {
      const Range range = range_of(one.name);
      map.get(one.name, one.value, range.least, range.most);
      if (too_narrow(one)) map.fail(one.name, kNarrowSpine);
      one.source = "set by " + file;
      continue;
    }
    YamlMap entry(file, map.child(one.name), "constants." + one.name);
    if (!entry.has("value")) entry.fail("value", "a number is expected");
    const Range range = range_of(one.name);
    entry.get("value", one.value, range.least, range.most);
    if (too_narrow(one)) entry.fail("value", kNarrowSpine);
    one.source = "set by " + file;
    entry.get("source", one.source);
    TROUPE_TRY(entry.finish());
  }
  return map.finish();
}

Status read_prefill(const std::string& file, const YAML::Node& node, PrefillPlan& plan) {
  if (!node) return ok_status();
  YamlMap map(file, node, "prefill");
  map.get("engines", plan.engines, 1, kPlanMany);
  map.get("ranks", plan.ranks, 1, 1024);
  map.get("step_budget_ms", plan.step_budget);
  map.get("chunk_tokens", plan.chunk_tokens, 128, 1u << 24);
  map.get("policy", plan.policy);
  map.get("moves_a_round", plan.moves_a_round, 1, kPlanMany);
  map.get("fit", plan.fit);
  if (plan.step_budget <= Duration()) map.fail("step_budget_ms", "more than 0 is expected");
  return map.finish();
}

Status read_decode(const std::string& file, const YAML::Node& node, DecodePlan& plan) {
  if (!node) return ok_status();
  YamlMap map(file, node, "decode");
  map.get("instances", plan.instances, 1, kPlanMany);
  map.get("ranks", plan.ranks, 1, 1024);
  map.get("rows_most", plan.rows_most, 1, 65'536);
  map.get("kv_gb", plan.kv_gb, 0.001, 1e5);
  map.get("drafts", plan.drafts);
  map.get("policy", plan.policy);
  return map.finish();
}

Status read_prefix(const std::string& file, const YAML::Node& node, PrefixPlan& plan) {
  if (!node) return ok_status();
  constexpr std::uint64_t kTokensMost = std::uint64_t{1} << 36;
  YamlMap map(file, node, "prefix");
  map.get("store_tokens", plan.store_tokens, 0, kTokensMost);
  map.get("own_cache_tokens", plan.own_cache_tokens, 0, kTokensMost);
  return map.finish();
}

Result<GroupFault> read_group_fault(const std::string& file, const YAML::Node& node,
                                    const ClusterPlan& plan) {
  YamlMap map(file, node, "faults");
  GroupFault fault;
  std::string victim;
  map.get("at_ms", fault.at);
  map.get("kill", victim);
  map.get("which", fault.which, 0, kPlanMany);
  if (victim == "decode_instance") {
    fault.kind = GroupKind::kDecodeInstance;
  } else if (victim != "prefill_engine") {
    map.fail("kill", "prefill_engine or decode_instance is expected");
  }
  const std::uint32_t pool =
      fault.kind == GroupKind::kDecodeInstance ? plan.decode.instances : plan.prefill.engines;
  if (fault.which >= pool) map.fail("which", "the pool has " + std::to_string(pool));
  TROUPE_TRY(map.finish());
  return fault;
}

std::optional<FabricPart> part_of(const std::string& name) {
  if (name == "nic") return FabricPart::kNic;
  if (name == "spine") return FabricPart::kSpine;
  if (name == "storage_read") return FabricPart::kStorageRead;
  if (name == "storage_write") return FabricPart::kStorageWrite;
  return std::nullopt;
}

Result<LinkFault> read_link_fault(const std::string& file, const YAML::Node& node,
                                  const ClusterPlan& plan) {
  YamlMap map(file, node, "faults");
  LinkFault fault;
  std::string part;
  map.get("at_ms", fault.at);
  map.get("until_ms", fault.until);
  map.get("slow", part);
  map.get("which", fault.which, 0, kPlanMany);
  map.get("share", fault.share, 1e-6, 1);
  const auto known = part_of(part);
  if (!known) map.fail("slow", "nic, spine, storage_read or storage_write is expected");
  if (!map.has("share")) map.fail("share", "which part of the bandwidth is left, up to 1");
  if (fault.until <= fault.at) map.fail("until_ms", "a time after at_ms is expected");
  if (fault.which >= plan.gpus()) {
    map.fail("which", "the cluster has " + std::to_string(plan.gpus()) + " GPUs");
  }
  TROUPE_TRY(map.finish());
  fault.part = *known;
  return fault;
}

Status read_faults(const std::string& file, const YAML::Node& list, ClusterPlan& plan) {
  for (const auto& node : list) {
    if (node.IsMap() && node["slow"]) {
      TROUPE_TRY_ASSIGN(const auto fault, read_link_fault(file, node, plan));
      plan.link_faults.push_back(fault);
    } else {
      TROUPE_TRY_ASSIGN(const auto fault, read_group_fault(file, node, plan));
      plan.faults.push_back(fault);
    }
  }
  return ok_status();
}

Result<ClusterPlan> read_plan(const std::string& file, const YAML::Node& root) {
  YamlMap map(file, root, "cluster");
  ClusterPlan plan;
  map.get("name", plan.name);
  map.get("seed", plan.seed, 0, std::uint64_t{1} << 52);
  map.get("explore_ties", plan.explore_ties);
  map.get("up_already", plan.up_already);
  map.get("timing", plan.timing);
  map.get("host_step_us", plan.host_step_us, kMicros.least, kMicros.most);
  map.get("host_row_us", plan.host_row_us, kMicros.least, kMicros.most);
  map.get("context_max", plan.context_max, 2, 1u << 26);
  map.get("requests_max", plan.requests_max, 1, 1u << 26);
  map.get("request_timeout_ms", plan.request_timeout);
  TROUPE_TRY(read_hardware(file, map.child("hardware"), plan));
  take_hardware(plan);
  TROUPE_TRY(read_constants(file, map.child("constants"), plan));
  TROUPE_TRY(read_prefill(file, map.child("prefill"), plan.prefill));
  TROUPE_TRY(read_decode(file, map.child("decode"), plan.decode));
  TROUPE_TRY(read_prefix(file, map.child("prefix"), plan.prefix));
  TROUPE_TRY(read_workload(file, map.child("workload"), plan.workload, [&](YamlMap& load) {
    load.get("cached_share", plan.prefix.cached_share, 0, 1);
  }));
  if (plan.gpus() > kGpusMost) {
    map.fail("prefill", "at most " + std::to_string(kGpusMost) + " GPUs are expected, these are " +
                            std::to_string(plan.gpus()));
  }
  const YAML::Node faults = map.child("faults");
  if (faults && !faults.IsSequence()) map.fail("faults", "a list is expected");
  if (faults && faults.IsSequence()) TROUPE_TRY(read_faults(file, faults, plan));
  TROUPE_TRY(map.finish());
  return plan;
}

}  // namespace

bool is_cluster_plan(std::string_view text) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    return root.IsMap() && (root["prefill"] || root["decode"]);
  } catch (const YAML::Exception&) {
    return false;  // whoever reads it as something else says what is wrong
  }
}

Result<ClusterPlan> parse_cluster_plan(std::string_view text, const std::string& file) {
  try {
    return read_plan(file, YAML::Load(std::string(text)));
  } catch (const YAML::Exception& failure) {
    return Error{Code::kInvalid,
                 file + ":" + std::to_string(failure.mark.line + 1) + ": not YAML: " + failure.msg};
  }
}

Result<ClusterPlan> load_cluster_plan(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return Error{Code::kNotFound, "there is no file " + file};
  std::ostringstream text;
  text << stream.rdbuf();
  return parse_cluster_plan(text.str(), file);
}

}  // namespace troupe
