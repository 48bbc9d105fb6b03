// What the ranks of a node do, in one line, out of its metrics. Pure: Prometheus text in, text out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// Of all ranks of the node together; shares are their mean.
struct DeviceLoad {
  double ranks = 0;
  double running = 0, waiting = 0;  ///< requests
  double kv_used = 0;               ///< share of the blocks, 0 to 1
  // Since the node began:
  double busy_seconds = 0;  ///< that devices ran steps
  double prompt_tokens = 0, generated_tokens = 0;
};

/// Nothing if the node has no rank.
std::optional<DeviceLoad> parse_load(std::string_view metrics);

/// One line; with rates and how busy the devices were if there is an earlier sample, taken
/// `seconds` before.
std::string format_load(const DeviceLoad& now, const std::optional<DeviceLoad>& before,
                        double seconds);

}  // namespace troupe
