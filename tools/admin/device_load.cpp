#include "tools/admin/device_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace troupe {

std::optional<DeviceLoad> parse_load(std::string_view metrics) {
  DeviceLoad load;
  while (!metrics.empty()) {
    const std::string line(metrics.substr(0, metrics.find('\n')));
    metrics.remove_prefix(std::min(line.size() + 1, metrics.size()));
    const auto space = line.rfind(' ');
    if (line.empty() || line[0] == '#' || space == std::string::npos) continue;
    const std::string_view name = std::string_view(line).substr(0, line.find_first_of("{ "));
    const double value = std::strtod(line.c_str() + space + 1, nullptr);
    if (name == "vllm:num_requests_running") {
      load.running += value;
      ++load.ranks;
    } else if (name == "vllm:num_requests_waiting") {
      load.waiting += value;
    } else if (name == "vllm:kv_cache_usage_perc") {
      load.kv_used += value;
    } else if (name == "troupe_device_busy_seconds_total") {
      load.busy_seconds += value;
    } else if (name == "vllm:prompt_tokens_total") {
      load.prompt_tokens += value;
    } else if (name == "vllm:generation_tokens_total") {
      load.generated_tokens += value;
    }
  }
  if (load.ranks == 0) return std::nullopt;
  load.kv_used /= load.ranks;
  return load;
}

std::string format_load(const DeviceLoad& now, const std::optional<DeviceLoad>& before,
                        double seconds) {
  std::string out = fmt::format("ranks {:.0f} | running {:.0f}, waiting {:.0f} | KV {:.1f}%",
                                now.ranks, now.running, now.waiting, now.kv_used * 100);
  if (before && seconds > 0) {
    // A step counts when it ends, so that one longer than the interval shows as more than its due.
    const double busy = (now.busy_seconds - before->busy_seconds) / (seconds * now.ranks);
    out += fmt::format(" | device busy {:.0f}% | prompt tokens/s {:.0f}, generated tokens/s {:.0f}",
                       std::clamp(busy, 0.0, 1.0) * 100,
                       (now.prompt_tokens - before->prompt_tokens) / seconds,
                       (now.generated_tokens - before->generated_tokens) / seconds);
  }
  return out + '\n';
}

}  // namespace troupe
