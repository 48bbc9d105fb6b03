// A plan of a cluster with prefill and decode apart: pools, layouts, constants, load. Data only.
//
//   name: 64 + 64 GPUs
//   hardware: B200                       # or {name: …, hbm_gb: …, hbm_tb_s: …, nic_gb_s: …}
//   prefill:  {engines: 16, ranks: 4, step_budget_ms: 220, policy: buckets}
//   decode:   {instances: 1, ranks: 64, rows_most: 96, drafts: confidence, policy: balanced}
//   encoders: {machines: 2, gpus: 8}     # for loads with images
//   timing: formula:v41                  # or a table of measured steps: a file, or its name
//   constants:                           # each has a default, with its source
//     prefill_b_us: {value: 11.2, source: measured on our machines}
//   prefix:   {own_cache_tokens: 1000000}    # of each prefill engine, instead of the store
//   workload: {request_rate: 1000, num_requests: 20000, isl: 77000, cached_share: 0.96, osl: 800}
//   # of the requests with images, and how many and which those have: image_share: 0.3,
//   # images: 2, image_size: "1024x768,512x512"
//   faults:                              # fault_plan.hpp
//     - {at_ms: 2000, kill: decode_instance, which: 0}
//     - {at_ms: 3000, until_ms: 4000, slow: storage_read, share: 0.1}
//   expect: {ok_min: 900, rerouted_min: 1}   # expectations.hpp
//
// What a constant is, its unit, where its value comes from and where it was fitted is part of the
// plan, so that a report can print it. Every key is optional. Unknown keys, wrong types and values
// out of range are refused with file:line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/time.hpp"
#include "runtime/simulation/expectations.hpp"
#include "runtime/simulation/fault_plan.hpp"
#include "runtime/simulation/scenario.hpp"

namespace troupe {

/// A GPU and its NIC: what of them enters the model.
struct Hardware {
  std::string name = "B200";
  double hbm_gb = 180;
  double hbm_tb_s = 8;  ///< CALIB.md assumes it for the published figures
  double nic_gb_s = 50;
  std::string source = "vendor's data sheet; 8 TB/s as CALIB.md assumes";
  /// Compute constants were fitted to the machine of seed 004, whose GPUs are of the B200's class.
  bool fitted = true;
};

struct PlanConstant {
  std::string name;
  double value = 0;
  std::string unit;
  std::string source;
  bool given = false;  ///< by the plan's file
};

struct PrefillPlan {
  std::uint32_t engines = 16;
  std::uint32_t ranks = 4;  ///< EP = DP of one engine
  Duration step_budget = milliseconds(220);
  std::uint32_t chunk_tokens = 32'768;  ///< of a rank's step (seed 004)
  std::string policy = "buckets";
  std::uint32_t moves_a_round = 1;  ///< engines that change their length bucket each second
  bool fit = true;                  ///< engines learn the curve of their steps
};

struct DecodePlan {
  std::uint32_t instances = 1;
  std::uint32_t ranks = 64;  ///< EP = DP of one instance
  std::uint32_t rows_most = 96;
  double kv_gb = 20;  ///< of a GPU's memory, for KV
  std::string drafts = "confidence";
  std::string policy = "balanced";
};

/// Machines of which each GPU runs a vision encoder, for loads with images.
struct EncoderPlan {
  std::uint32_t machines = 0;
  std::uint32_t gpus = 8;    ///< of a machine
  std::uint32_t patch = 14;  ///< pixels a side: V4.1's, whose tokens are of 3 x 3 (SPEC.md, 4)
};

/// Where prefixes are, and what of prompts that have no hash chains.
struct PrefixPlan {
  double cached_share = 0;             ///< of a prompt, in the store
  std::uint64_t own_cache_tokens = 0;  ///< of each engine; 0: there is the store
};

struct ClusterPlan {
  std::string name;
  std::uint64_t seed = 1;
  bool explore_ties = false;
  Hardware hardware;
  PrefillPlan prefill;
  DecodePlan decode;
  EncoderPlan encoders;
  std::vector<PlanConstant> constants;
  /// Of steps: the formula with the constants above, or one table of a real GPU (then what an
  /// engine's host adds to each step, and to each row of it). Never both.
  std::string timing = "formula:v41";
  double host_step_us = 0;
  double host_row_us = 0;
  bool up_already = true;  ///< groups are there at the beginning; else each starts up first
  std::uint32_t context_max = 1u << 20;
  std::uint32_t requests_max = 1u << 18;
  Duration request_timeout = seconds(600);
  Workload workload;
  PrefixPlan prefix;
  ClusterFaults faults;
  Expectations expect;  ///< of its run; what every run must keep is not written here

  /// With the default constants of its hardware.
  ClusterPlan();
  /// Requires: a constant of this name.
  double constant(std::string_view name) const;
  void set_constant(std::string_view name, double value, std::string source);
  std::uint32_t gpus() const;
  /// GPUs with a NIC in the fabric: encoders' embeddings move in no time.
  std::uint32_t ports() const;
  /// One a line: "prefill_a_ms = 21.97 ms; fit …". Those of encoders only if there are some.
  std::vector<std::string> describe() const;
};

/// Whether this text is a plan of a cluster, and not a node's configuration: it has a section that
/// only plans have.
bool is_cluster_plan(std::string_view text);

/// `file` is for messages only.
Result<ClusterPlan> parse_cluster_plan(std::string_view text, const std::string& file);
Result<ClusterPlan> load_cluster_plan(const std::string& file);

}  // namespace troupe
