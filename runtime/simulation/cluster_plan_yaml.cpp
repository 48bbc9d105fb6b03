// Reads a ClusterPlan from YAML.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/base/engine_limits.hpp"
#include "runtime/simulation/cluster_plan.hpp"
#include "runtime/simulation/expectations_yaml.hpp"
#include "runtime/simulation/fault_plan_yaml.hpp"
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
    {"prefill_efficiency", {0.01, 1}},
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
    {"encoder_image_ms", kMs},
    {"encoder_patch_us", kMicros},
    {"nic_gb_s", kSpeed},
    {"spine_gb_s", {0, 1e9}},
    {"storage_read_gib_s", kSpeed},
    {"storage_write_gib_s", kSpeed},
    {"storage_mops", kSpeed},
    {"storage_access_us", kMicros},
    {"storage_jitter_us", kMicros},
    {"store_blocks", {1, 1u << 26}},
    {"store_life_s", {0, 1e8}},
    {"kv_token_bytes", {1, 1e6}},
    {"window_miss", kShare},
    {"window_life_s", {0, 1e8}},
    {"start_up_s", {0, 1e6}},
    {"node_lost_s", {0.001, 1e6}},
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

/// GPUs that a plan may name: memory, its bandwidth, and one 400G NIC (seed 001's machines; the
/// package's B200 has two). Step times are another matter: those of seed 004's plots are of a
/// B200's class; of others see kNoSteps and `troupe simulate --timing`.
constexpr const char* kPackage =
    "system files of aiconfigurator-core 0.12.0 (GiB; TIMING.md); NIC: seed 001";
const Hardware kHardware[] = {
    {"B200", 180, 8, 50,
     "180 GiB: system files of aiconfigurator-core 0.12.0; 8 TB/s: seed 001, CALIB.md (the "
     "package: "
     "7.7); NIC: CALIB.md",
     true},
    {"H200", 141, 4.8, 50, kPackage, false},
    {"H100", 80, 3.35, 50, kPackage, false},
    {"Ascend 950", 128, 3.8, 50,
     "seed 001, a third party's article: 128 to 192 GB, of which the least; NIC: its machines",
     false},
};

/// Of these no source says what a step takes, and nothing that we know is like them.
constexpr std::string_view kNoSteps[] = {"Ascend 950"};
constexpr std::string_view kStepConstants[] = {"prefill_a_ms", "prefill_b_us", "decode_t0_ms",
                                               "decode_p1_us", "decode_p2_us", "decode_knee"};

/// Refuses to invent step times. `constants`: as the file says them.
Status check_steps(const std::string& file, const Hardware& gpu, const YAML::Node& constants) {
  if (std::find(std::begin(kNoSteps), std::end(kNoSteps), gpu.name) == std::end(kNoSteps)) {
    return ok_status();
  }
  std::string missing;
  for (const std::string_view name : kStepConstants) {
    const std::string key(name);
    if (!constants || !constants.IsMap() || !constants[key]) missing += " " + key;
  }
  if (missing.empty()) return ok_status();
  return Error{Code::kInvalid, file + ": hardware: no source says how long steps of an " +
                                   gpu.name +
                                   " take; measure them and give in constants:" + missing};
}

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
    const YAML::Node given = map.child(one.name);
    if (!given) continue;
    one.given = true;
    if (given.IsScalar()) {
      const Range range = range_of(one.name);
      map.get(one.name, one.value, range.least, range.most);
      if (too_narrow(one)) map.fail(one.name, kNarrowSpine);
      one.source = "set by " + file;
      continue;
    }
    YamlMap entry(file, given, "constants." + one.name);
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

Status read_encoders(const std::string& file, const YAML::Node& node, EncoderPlan& plan) {
  if (!node) return ok_status();
  YamlMap map(file, node, "encoders");
  map.get("machines", plan.machines, 0, kPlanMany);
  map.get("gpus", plan.gpus, 1, 1024);
  map.get("patch", plan.patch, 1, 1024);
  return map.finish();
}

Status read_load(const std::string& file, const YAML::Node& node, ClusterPlan& plan) {
  return read_workload(file, node, plan.workload, [&](YamlMap& load) {
    load.get("cached_share", plan.prefix.cached_share, 0, 1);
    load.get("image_share", plan.workload.image_share, 0, 1);
    load.get("images", plan.workload.images, 1, kImagesMost);
    load.get("image_size", plan.workload.image_size);
  });
}

Status read_prefix(const std::string& file, const YAML::Node& node, PrefixPlan& plan) {
  if (!node) return ok_status();
  constexpr std::uint64_t kTokensMost = std::uint64_t{1} << 36;
  YamlMap map(file, node, "prefix");
  map.get("own_cache_tokens", plan.own_cache_tokens, 0, kTokensMost);
  return map.finish();
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
  TROUPE_TRY(check_steps(file, plan.hardware, root["constants"]));
  TROUPE_TRY(read_constants(file, map.child("constants"), plan));
  TROUPE_TRY(read_prefill(file, map.child("prefill"), plan.prefill));
  TROUPE_TRY(read_decode(file, map.child("decode"), plan.decode));
  TROUPE_TRY(read_prefix(file, map.child("prefix"), plan.prefix));
  TROUPE_TRY(read_encoders(file, map.child("encoders"), plan.encoders));
  TROUPE_TRY(read_load(file, map.child("workload"), plan));
  if (plan.gpus() > kGpusMost) {
    map.fail("prefill", "at most " + std::to_string(kGpusMost) + " GPUs are expected, these are " +
                            std::to_string(plan.gpus()));
  }
  const YAML::Node faults = map.child("faults");
  if (faults && !faults.IsSequence()) map.fail("faults", "a list is expected");
  if (faults && faults.IsSequence()) {
    const FaultTargets targets{plan.prefill.engines, plan.decode.instances, plan.ports(),
                               plan.encoders.machines};
    TROUPE_TRY_ASSIGN(plan.faults, read_cluster_faults(file, faults, targets));
  }
  TROUPE_TRY(read_expectations(file, map.child("expect"), plan.expect));
  TROUPE_TRY(map.finish());
  return plan;
}

/// No node's configuration has them; one that is misspelt leaves the others.
const char* const kOwnSections[] = {"prefill",   "decode",   "encoders", "workload",
                                    "constants", "hardware", "faults"};

}  // namespace

bool is_cluster_plan(std::string_view text) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    return root.IsMap() && std::any_of(std::begin(kOwnSections), std::end(kOwnSections),
                                       [&](const char* name) { return bool(root[name]); });
  } catch (const YAML::Exception&) {
    return false;  // whoever reads it as something else says what is wrong
  }
}

Result<ClusterPlan> parse_cluster_plan(std::string_view text, const std::string& file) {
  TROUPE_TRY_ASSIGN(const YAML::Node root, yaml_document(file, text));
  try {
    return read_plan(file, root);
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
