// bench_engines replay TRACE ENGINES SPEED | vidur TRACE ENGINES REQUESTS_A_SECOND
//
// One run of a cluster of engines on a trace, as JSON: its CPU time (reading the trace, making the
// cluster and running it), and what tools/bench compares of what came out of it.
#include <cstdlib>
#include <cstring>

#include "tests/bench/engines/peer_costs.hpp"
#include "tests/bench/figure.hpp"
#include "tools/simulate/engine_cluster.hpp"

namespace troupe::bench {

namespace {

struct Setting {
  EnginePlan plan;
  EngineCluster::Options options;
};

/// What the peers are told, too (tools/benches/peer_dynamo.py, peer_vidur.py).
Setting setting_of(bool replay) {
  Setting setting;
  EngineLimits& limits = setting.plan.limits;
  setting.options.trace_hash = false;
  if (replay) {
    limits.block_tokens = 512;
    limits.kv_tokens = std::uint64_t{2'048} * limits.block_tokens;
    limits.step_tokens = 8'192;
    limits.rows_most = 256;
    setting.options.cost = std::make_shared<ReplayCost>(static_cast<double>(limits.kv_tokens));
  } else {
    limits.prefix_cache = false;
    limits.step_tokens = 1'024;
    limits.rows_most = 128;
    setting.options.cost = std::make_shared<LinearCost>();
  }
  return setting;
}

int run(int argc, char** argv) {
  const bool replay = argc == 5 && std::strcmp(argv[1], "replay") == 0;
  if (argc != 5 || (!replay && std::strcmp(argv[1], "vidur") != 0)) {
    std::fprintf(stderr, "usage: bench_engines replay|vidur TRACE ENGINES SPEED|RATE\n");
    return 2;
  }
  Setting setting = setting_of(replay);
  setting.plan.engines = static_cast<std::uint32_t>(std::atoi(argv[3]));
  TrafficPlan load;
  load.trace.file = argv[2];
  (replay ? load.trace.speed : load.request_rate) = std::atof(argv[4]);
  setting.options.load = load;
  const double begin = cpu_seconds();
  auto made = EngineCluster::make(setting.plan, std::move(setting.options));
  if (!made.ok()) {
    std::fprintf(stderr, "bench_engines: %s\n", made.error().message.c_str());
    return 1;
  }
  EngineCluster& cluster = **made;
  const Status status = cluster.run();
  const double spent = cpu_seconds() - begin;
  const TrafficReport& report = cluster.traffic().report();
  const auto broken = cluster.broken_rules();
  if (!status.ok() || !broken.empty() || report.count(Outcome::kOk) != report.total()) {
    std::fprintf(stderr, "bench_engines: %s\n",
                 !status.ok()     ? status.error().message.c_str()
                 : broken.empty() ? "not all requests were answered"
                                  : broken.front().c_str());
    return 1;
  }
  std::printf(
      "{\"requests\":%llu,\"cpu_s\":%.6f,\"decode_rows\":%.5f,\"duration_s\":%.3f,"
      "\"ttft_ms\":%.3f,\"tpot_ms\":%.4f,\"e2e_ms\":%.3f,\"tokens\":%llu,\"events\":%llu,"
      "\"steps\":%llu}\n",
      static_cast<unsigned long long>(report.total()), spent, cluster.mean_decode_rows(),
      report.duration().seconds(), report.ttft.mean() * 1e3, report.tpot.mean() * 1e3,
      report.e2el.mean() * 1e3, static_cast<unsigned long long>(report.output_tokens()),
      static_cast<unsigned long long>(cluster.world().events()),
      static_cast<unsigned long long>(cluster.use().steps));
  return 0;
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  return troupe::bench::run(argc, argv);
}
