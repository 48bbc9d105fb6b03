// How fast the world runs, what it holds, and how even its decode steps are.
#include <algorithm>
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

/// The storage grows with the cluster, so that each part of it has the same load at every size:
/// the 10 TiB/s of seed 000 are of 512 GPUs here.
ClusterPlan scaled_plan(std::uint32_t gpus) {
  ClusterPlan plan = plan_of(gpus, 32, gpus * 4'400.0 / 512);
  for (const char* part : {"storage_read_gib_s", "storage_write_gib_s", "storage_mops"}) {
    plan.set_constant(part, plan.constant(part) * gpus / 512, "as the cluster grows");
  }
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

double least(const std::vector<double>& samples) {
  return *std::min_element(samples.begin(), samples.end());
}

/// The longest request takes 6 s (p99.9 is 5 s): by then as many end as start, and memory has
/// stopped to grow.
constexpr Duration kSteadyAfter = seconds(8);

/// A cluster that has come to its steady state, and what a request of it costs.
class Steady {
 public:
  explicit Steady(std::uint32_t gpus) : cluster_(cluster_of(scaled_plan(gpus))) {
    cluster_->run_until(Time() + kSteadyAfter);
  }

  /// Microseconds of CPU time a request, of so many.
  double measure(double requests) {
    const double rate = cluster_->plan().workload.request_rate;
    // The others took its place in the caches: that is not its cost.
    cluster_->run_until(cluster_->world().now() + from_seconds(requests / 10 / rate));
    const std::uint64_t before = cluster_->traffic().report().total();
    const double begin = cpu_seconds();
    cluster_->run_until(cluster_->world().now() + from_seconds(requests / rate));
    const double spent = cpu_seconds() - begin;
    const std::uint64_t ended = cluster_->traffic().report().total() - before;
    samples.push_back(spent * 1e6 / static_cast<double>(ended));
    return samples.back();
  }

  std::vector<double> samples;

 private:
  std::unique_ptr<PdCluster> cluster_;
};

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
  Steady small(64);
  Steady middle(512);
  Steady large(4'096);
  // In turn, and the least of each: what else runs on the machine only adds to a round, most to
  // those of the largest cluster, which lives from the memory that all share.
  std::vector<double> rounds;
  const double requests = quick ? 10'000 : 30'000;
  for (int round = 0; round < (quick ? 3 : 9); ++round) {
    const double first = small.measure(requests);
    middle.measure(requests);
    rounds.push_back(large.measure(requests) / first);
  }
  growth.samples.push_back(least(large.samples) / least(small.samples));
  std::sort(rounds.begin(), rounds.end());
  std::fprintf(stderr,
               "CPU us a request: 64 GPUs %.1f, 512 GPUs %.1f, 4,096 GPUs %.1f; growth in single "
               "rounds %.2f to %.2f, median %.2f\n",
               least(small.samples), least(middle.samples), least(large.samples), rounds.front(),
               rounds.back(), rounds[rounds.size() / 2]);
  return growth;
}

}  // namespace troupe::bench
