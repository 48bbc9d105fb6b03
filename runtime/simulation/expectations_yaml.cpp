#include "runtime/simulation/expectations_yaml.hpp"

namespace troupe {

Status read_expectations(const std::string& file, const YAML::Node& node, Expectations& expect) {
  if (!node) return ok_status();
  YamlMap map(file, node, "expect");
  map.get("ok_min", expect.ok_min);
  map.get("failed_min", expect.failed_min);
  map.get("failed_max", expect.failed_max);
  map.get("cancelled_min", expect.cancelled_min);
  map.get("timed_out_min", expect.timed_out_min);
  map.get("preemptions_min", expect.preemptions_min);
  map.get("parked_min", expect.parked_min);
  map.get("dropped_min", expect.dropped_min);
  map.get("restarts_min", expect.restarts_min);
  map.get("killed_min", expect.killed_min);
  map.get("nodes_lost_min", expect.nodes_lost_min);
  map.get("rerouted_min", expect.rerouted_min);
  map.get("images_min", expect.images_min);
  map.get("images_again_min", expect.images_again_min);
  map.get("ttft_p99_ms_min", expect.ttft_p99_ms_min);
  map.get("tpot_p99_ms_min", expect.tpot_p99_ms_min);
  map.get("ttft_p99_ms_max", expect.ttft_p99_ms_max);
  map.get("virtual_seconds_max", expect.virtual_seconds_max);
  return map.finish();
}

}  // namespace troupe
