// What must come of a simulated run, as the file of a scenario or of a cluster's plan says it.
//
//   expect: {ok_min: 1500, failed_max: 200, rerouted_min: 5, ttft_p99_ms_min: 900}
//
// Every key is optional. A least figure of a fault's traces (dropped_min, rerouted_min) shows that
// the fault was there at all. Data only.
#pragma once

#include <cstdint>
#include <optional>

namespace troupe {

struct Expectations {
  std::optional<std::uint64_t> ok_min;
  std::optional<std::uint64_t> failed_min;
  std::optional<std::uint64_t> failed_max;
  std::optional<std::uint64_t> cancelled_min;
  std::optional<std::uint64_t> timed_out_min;
  std::optional<std::uint64_t> preemptions_min;
  std::optional<std::uint64_t> parked_min;
  std::optional<std::uint64_t> dropped_min;
  std::optional<std::uint64_t> restarts_min;
  // Of clusters with prefill and decode apart.
  std::optional<std::uint64_t> killed_min;
  std::optional<std::uint64_t> nodes_lost_min;
  std::optional<std::uint64_t> rerouted_min;
  std::optional<std::uint64_t> images_min;        ///< encoded
  std::optional<std::uint64_t> images_again_min;  ///< given to another encoder
  std::optional<double> ttft_p99_ms_min;
  std::optional<double> tpot_p99_ms_min;
  std::optional<double> ttft_p99_ms_max;
  std::optional<double> virtual_seconds_max;
};

}  // namespace troupe
