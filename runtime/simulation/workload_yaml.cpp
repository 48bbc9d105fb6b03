#include "runtime/simulation/workload_yaml.hpp"

namespace troupe {

namespace {
constexpr std::uint64_t kLoadMany = 1u << 30;
}  // namespace

Status read_workload(const std::string& file, const YAML::Node& node, Workload& load,
                     const std::function<void(YamlMap&)>& more) {
  if (!node) return ok_status();
  YamlMap map(file, node, "workload");
  map.get("concurrency", load.concurrency, 1, kLoadMany);
  map.get("request_rate", load.request_rate, 0, 1e9);
  map.get("burstiness", load.burstiness, 1e-3, 1e6);
  map.get("num_requests", load.num_requests, 1, kLoadMany);
  map.get("duration_ms", load.duration);
  map.get("warmup", load.warmup, 0, kLoadMany);
  map.get("isl", load.isl, 1, kLoadMany);
  map.get("isl_stddev", load.isl_stddev, 0, 1e9);
  map.get("osl", load.osl, 1, kLoadMany);
  map.get("osl_spread", load.osl_spread, 0, kLoadMany);
  map.get("cancel_rate", load.cancel_rate, 0, 1);
  map.get("cancel_delay_ms", load.cancel_delay);
  map.get("cancel_delay_most_ms", load.cancel_delay_most);
  map.get("timeout_ms", load.timeout);
  map.get("slow_readers", load.slow_readers, 0, 1);
  map.get("slow_reader_starts_ms", load.slow_reader_starts);
  map.get("goodput", load.goodput);
  if (more) more(map);
  return map.finish();
}

}  // namespace troupe
