// A plan of a cluster of engines that prefill and decode on the same GPUs. Data only.
//
//   name: 8 engines
//   engines:  {count: 8, rows_most: 256, step_tokens: 8192, kv_tokens: 1048576, block_tokens: 512}
//   timing:   formula:v41                # or a table of measured steps (docs/simulation.md)
//   workload: {request_rate: 3, num_requests: 5000, isl: 8000, osl: 300}
//
// Every key is optional but `engines`. Unknown keys, wrong types and values out of range are
// refused with file:line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"
#include "runtime/base/time.hpp"
#include "runtime/simulation/scenario.hpp"

namespace troupe {

struct EngineLimits {
  std::uint32_t rows_most = 256;       ///< admitted at once
  std::uint32_t step_tokens = 8'192;   ///< of prompts and rows in one step
  std::uint64_t kv_tokens = 1u << 20;  ///< of KV
  std::uint32_t block_tokens = 128;    ///< of a hash of a chain
  bool prefix_cache = true;
  std::uint32_t queue_most = 1u << 16;    ///< prompts that wait
  std::uint32_t context_most = 1u << 20;  ///< prompt and answer of one request
};

struct EnginePlan {
  std::string name;
  std::uint64_t seed = 1;
  bool explore_ties = false;
  std::uint32_t engines = 8;
  EngineLimits limits;
  std::string timing = "formula:v41";  ///< as of ClusterPlan
  double host_step_us = 0;
  double host_row_us = 0;
  std::uint32_t requests_max = 1u << 18;
  Duration request_timeout = seconds(600);
  Workload workload;

  /// "8 engines, …".
  std::string shape_text() const;
};

/// Whether this text is such a plan.
bool is_engine_plan(std::string_view text);

/// `file` is for messages only.
Result<EnginePlan> parse_engine_plan(std::string_view text, const std::string& file);

}  // namespace troupe
