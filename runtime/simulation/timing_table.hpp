// Step times of a real GPU, engine and layout, as a file holds them: schema troupe-timing-1.
//
//   prefill: requests n, new tokens Q (all of the step), cached tokens c a request  → ms a step
//   decode:  query tokens N on the rank, context                                    → ms a step
//
// Why a table beside the formula: the formula knows one model from the seeds' plots; tables know
// what engines do on H100, H200, B200, GB200 with models that can be had. `tools/export-timing`
// makes them; provenance says of what.
//
// Invariants
// 1. What load() gives has sizes that fit, axes that ascend, finite numbers, a mark for each point,
//    and reproduces the test vectors that the file carries; anything else is a kCorrupt that names
//    the member.
// 2. Times are those of one rank if all ranks carry the same load; the group's step is the maximum
//    over its ranks' own.
//
// Source: TIMING.md section 6. Units: milliseconds, tokens, bytes. Threads: immutable.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/simulation/timing_grid.hpp"

namespace troupe {

/// How well a point is founded.
enum class TimingMark : char {
  kMeasured = 'm',
  kDerived = 'e',        ///< over 5 % of its time comes from formulas for element-wise operators
  kCommunication = 'w',  ///< wider than was measured
  kExperts = 't',        ///< more tokens than the experts were measured with
  kAttention = 'a',      ///< outside of the attention's measured batch, length or prefix
};

struct TimedStep {
  double ms = 0;
  double attention_ms = 0;                  ///< of these, in attention
  TimingMark mark = TimingMark::kMeasured;  ///< of the nearest lower point of the grid
  bool beyond = false;                      ///< more tokens than the grid has: a line goes on
};

/// Bytes of one GPU.
struct TimingMemory {
  double weights = 0;
  double activations = 0;
  double buffers = 0;  ///< of the collective library, and of the engine itself
};

struct TimingLayout {
  std::uint32_t tp = 1, dp = 1, ep = 1, gpus = 1;
};

class TimingTable {
 public:
  static constexpr std::size_t kFileBytesMax = 64u << 20;

  static Result<TimingTable> load(const std::string& path);
  static Result<TimingTable> parse(std::string_view json);

  /// Unequal requests: Q = Σq, c = Σqc/Q, n = Q²/Σq². Requires: new_tokens > 0.
  TimedStep prefill(double requests, double new_tokens, double prefix) const;
  TimedStep decode(double tokens, double context) const;
  /// KV of one request, per rank.
  double kv_bytes(double context) const;

  const std::string& name() const { return name_; }
  const std::string& model() const { return model_; }
  /// The engine: "sglang", "trtllm", "vllm".
  const std::string& backend() const { return backend_; }
  /// "sglang 0.5.14 on gb200, from aiconfigurator-core 0.12.0 (Apache-2.0)".
  const std::string& origin() const { return origin_; }
  const TimingLayout& prefill_layout() const { return prefill_layout_; }
  const TimingLayout& decode_layout() const { return decode_layout_; }
  const TimingMemory& prefill_memory() const { return prefill_memory_; }
  const TimingMemory& decode_memory() const { return decode_memory_; }
  double gpu_memory() const { return gpu_memory_; }

 private:
  friend class TimingTableReader;

  std::string name_, model_, backend_, origin_;
  TimingLayout prefill_layout_, decode_layout_;
  TimingMemory prefill_memory_, decode_memory_;
  double gpu_memory_ = 0;

  std::vector<double> requests_;  // as −1/n, the axis on which times are linear
  std::vector<double> new_tokens_, prefix_, batch_, context_;
  TimingGrid<3> prefill_ms_, prefill_attention_ms_;
  TimingGrid<2> decode_ms_, decode_attention_ms_;
  std::vector<std::string> prefill_marks_;  // [n · |Q| + q], one letter a prefix
  std::vector<std::string> decode_marks_;   // [b], one letter a context

  std::vector<double> kv_context_;  // begins at 0
  TimingGrid<1> kv_bytes_;
};

}  // namespace troupe
