#include "runtime/simulation/cluster_plan.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"
#include "runtime/simulation/formatted.hpp"

namespace troupe {

namespace {

constexpr const char* kPrefillFit =
    "fit to seed 004's plot of an EP4/DP4 engine, 4,096 to 65,536 tokens a step (CALIB.md)";
constexpr const char* kDecodeFit =
    "fit to seed 004's plot of an EP64/DP64 instance, 8 to 256 rows at 131,072 tokens (CALIB.md)";
constexpr const char* kDraftFit = "fit to seed 004's DSpark table, 16 to 96 rows (CALIB.md)";
constexpr const char* kAssumed = "assumed: no source";

std::vector<PlanConstant> default_constants() {
  return {
      {"prefill_a_ms", 21.97, "ms a step", kPrefillFit},
      {"prefill_b_us", 10.838, "us a token", kPrefillFit},
      {"prefill_g", 0, "s a token^2", "not determined by the seeds: a parameter"},
      {"prefill_efficiency", 1, "of the fitted step",
       "1: groups wait for their slowest member anyway; seed 004: production has about 0.8"},
      {"decode_t0_ms", 9.804, "ms a step", kDecodeFit},
      {"decode_k_ms", 0.01468, "ms a row of 131,072 tokens", "896 B/token at the HBM's bandwidth"},
      {"decode_p1_us", 4.08, "us a verified token", kDecodeFit},
      {"decode_p2_us", 13.74, "us a verified token above the knee", kDecodeFit},
      {"decode_knee", 272, "verified tokens a GPU and step", kDecodeFit},
      {"decode_extra_ms", 0, "ms a step",
       "0 for EP64; EP8 3.177, from one point of seed 004 (CALIB.md)"},
      {"decode_efficiency", 1, "of the fitted step",
       "1: the fit holds imbalance; seed 004: production has about 0.8 of balanced"},
      {"draft_m", 2.3138, "tokens", kDraftFit},
      {"draft_c", 1.6823, "drafts", kDraftFit},
      {"draft_d", 1.5, "", kDraftFit},
      {"draft_chance", 0, "of a draft", "0: the fitted curve; seed 004's plots: 0.75"},
      {"draft_overhead", 0.0151, "of the throughput", kDraftFit},
      {"encoder_image_ms", 1, "ms an image, beside its patches", kAssumed},
      {"encoder_patch_us", 1.1, "us a patch",
       "assumed: no source; 0.5 G parameters, 2 operations each, at 0.9 PFLOP/s"},
      {"nic_gb_s", 50, "GB/s each way, a GPU", "one 400G NIC (CALIB.md)"},
      {"spine_gb_s", 0, "GB/s", "0: full bisection; assumed"},
      {"storage_read_gib_s", 10'240, "GiB/s", "seed 000: peak 10 TiB/s"},
      {"storage_write_gib_s", 850, "GiB/s", "seed 000"},
      {"storage_mops", 95.9, "million block reads a second", "its bandwidth over 112 KiB"},
      {"storage_access_us", 300, "us, least", kAssumed},
      {"storage_jitter_us", 200, "us, mean of an exponential on top", kAssumed},
      {"store_blocks", 1 << 20, "blocks of 128 tokens",
       "assumed: what a simulation remembers; seed 000: 100 PiB"},
      {"store_life_s", 0, "s after a block's last use",
       "0: endless; seed 000: 3 days for agents, 7 for chat"},
      {"kv_token_bytes", 896, "bytes", "112 KiB a block of 128 tokens (seed 000)"},
      {"window_miss", 0.02, "of lookups", "seed 000: hits above 98 %"},
      {"window_life_s", 180, "s", "seed 000"},
      {"start_up_s", 240, "s", "seed 000 says minutes; assumed"},
      {"node_lost_s", 1, "s of silence", "4 heartbeats of 250 ms, the default of a node's"},
  };
}

}  // namespace

ClusterPlan::ClusterPlan() : constants(default_constants()) {}

double ClusterPlan::constant(std::string_view wanted) const {
  const auto at = std::find_if(constants.begin(), constants.end(),
                               [&](const PlanConstant& one) { return one.name == wanted; });
  TROUPE_ASSERT(at != constants.end(), "a constant of the plan");
  return at->value;
}

void ClusterPlan::set_constant(std::string_view wanted, double value, std::string source) {
  const auto at = std::find_if(constants.begin(), constants.end(),
                               [&](const PlanConstant& one) { return one.name == wanted; });
  TROUPE_ASSERT(at != constants.end(), "a constant of the plan");
  at->value = value;
  at->source = std::move(source);
}

std::uint32_t ClusterPlan::gpus() const {
  return ports() + encoders.machines * encoders.gpus;
}

std::uint32_t ClusterPlan::ports() const {
  return prefill.engines * prefill.ranks + decode.instances * decode.ranks;
}

std::vector<std::string> ClusterPlan::describe() const {
  std::vector<std::string> lines;
  for (const PlanConstant& one : constants) {
    if (encoders.machines == 0 && one.name.starts_with("encoder_")) continue;
    lines.push_back(formatted("%s = %g %s; ", one.name.c_str(), one.value, one.unit.c_str()) +
                    one.source);
  }
  return lines;
}

}  // namespace troupe
