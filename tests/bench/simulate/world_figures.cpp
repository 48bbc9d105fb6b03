// How fast the world runs, what it holds, and how even its decode steps are.
#include <fstream>

#include "tests/bench/simulate/figures.hpp"
#include "tools/simulate/pd_cluster.hpp"

namespace troupe::bench {

namespace {

/// 77,000 tokens of prompt, 96 % of them stored, 800 of answer; half of the GPUs for prefill.
ClusterPlan plan_of(std::uint32_t gpus, std::uint32_t instance, double requests_a_second) {
  ClusterPlan plan;
  plan.prefill.engines = gpus / 8;
  plan.prefill.moves_a_round = std::max(1u, plan.prefill.engines / 16);
  plan.decode.ranks = instance;
  plan.decode.instances = gpus / 2 / instance;
  plan.prefix.cached_share = 0.96;
  plan.workload.request_rate = requests_a_second;
  plan.workload.duration = seconds(100'000);
  plan.workload.isl = 77'000;
  plan.workload.osl = 800;
  plan.workload.osl_spread = 400;
  return plan;
}

std::unique_ptr<PdCluster> cluster_of(const ClusterPlan& plan) {
  PdCluster::Options options;
  options.trace_hash = false;
  return std::move(PdCluster::make(plan, std::move(options))).value();
}

/// Megabytes that the process holds.
double resident_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

/// The longest request takes 6 s (p99.9 is 5 s): by then as many end as start, and memory has
/// stopped to grow.
constexpr Duration kSteadyAfter = seconds(8);

/// CPU time of one request of a cluster that has come to its steady state.
double seconds_a_request(std::uint32_t gpus, double window) {
  const auto cluster = cluster_of(plan_of(gpus, 32, gpus * 4'400.0 / 512));
  cluster->run_until(Time() + kSteadyAfter);
  const std::uint64_t before = cluster->traffic().report().total();
  const double begin = cpu_seconds();
  cluster->run_until(cluster->world().now() + from_seconds(window));
  const double spent = cpu_seconds() - begin;
  return spent / static_cast<double>(cluster->traffic().report().total() - before);
}

}  // namespace

std::vector<Figure> world_figures(bool quick) {
  const auto cluster = cluster_of(plan_of(512, 64, 4'400));
  cluster->run_until(Time() + seconds(quick ? 6 : 20));
  Figure speed{"simulate.realtime_512", "virtual/CPU seconds", 10, false, {}};
  const GroupUse before = cluster->decode_use();
  for (int i = 0; i < (quick ? 1 : 5); ++i) {
    constexpr Duration kWindow = seconds(4);
    const double begin = cpu_seconds();
    cluster->run_until(cluster->world().now() + kWindow);
    speed.samples.push_back(kWindow.seconds() / (cpu_seconds() - begin));
  }
  const GroupUse after = cluster->decode_use();
  Figure memory{"simulate.rss_512_mb", "MB", 1'000, true, {resident_mb()}};
  // What members would take if each had the mean, over what they waited for the fullest.
  Figure even{"simulate.decode_efficiency",
              "of even steps",
              0.95,
              false,
              {(after.own - before.own) / (after.busy - before.busy)}};
  return {std::move(speed), std::move(memory), std::move(even)};
}

Figure growth_figure(bool quick) {
  Figure growth{"simulate.growth_4096", "time a request over 64 GPUs", 1.5, true, {}};
  const double small = seconds_a_request(64, quick ? 10 : 30);
  const double middle = seconds_a_request(512, quick ? 2 : 8);
  const double large = seconds_a_request(4'096, quick ? 0.5 : 2);
  std::fprintf(stderr, "CPU us a request: 64 GPUs %.1f, 512 GPUs %.1f, 4,096 GPUs %.1f\n",
               small * 1e6, middle * 1e6, large * 1e6);
  growth.samples.push_back(large / small);
  return growth;
}

}  // namespace troupe::bench
