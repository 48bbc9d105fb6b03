// Prefill policies against each other on a recorded trace: all of them in one run, each in a
// cluster of its own, from the gateway on.
#include <unordered_map>

#include "runtime/cost/prefill_curve.hpp"
#include "tests/bench/simulate/figures.hpp"
#include "tools/simulate/pd_cluster.hpp"

namespace troupe::bench {

namespace {

constexpr std::uint32_t kEngines = 8;
constexpr std::uint32_t kTraceBlock = 512;
/// Equal loads are told apart by chance, which moves a p95 by a percent or two.
constexpr std::uint64_t kSeeds = 5;
constexpr std::uint64_t kCacheTokens = 1'000'000;  ///< of an engine; the store has all of them
/// Offered work over capacity, if every prefix that was ever seen hits (KVROUTER.md).
constexpr double kLoad = 0.70;

std::uint32_t hit_of(std::uint32_t length, std::uint64_t stored) {
  if (length <= 134) return 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(stored, length - 134) / 128 * 128);
}

/// Seconds of work of the trace with a cache without end.
double work_of(const std::vector<TraceLine>& trace, const PrefillCurve& curve) {
  std::unordered_map<std::uint64_t, bool> seen;
  double work = 0;
  for (const TraceLine& line : trace) {
    std::size_t known = 0;
    while (known < line.blocks.size() && seen.contains(line.blocks[known])) ++known;
    const std::uint32_t hit = hit_of(line.input, known * kTraceBlock);
    work += curve.step(line.input - hit, hit).seconds();
    for (const std::uint64_t block : line.blocks) seen[block] = true;
  }
  return work;
}

struct RouterResult {
  double hit = 0;
  double p50 = 0;  ///< seconds of TTFT
  double p95 = 0;
  double imbalance = 0;  ///< most over mean work of an engine
};

/// Engines of one GPU; blocks are visible when they were computed; what hits in the store is
/// fetched over its links. Decode has room for everybody.
ClusterPlan router_plan(PrefillRule rule, bool store, std::uint64_t seed) {
  ClusterPlan plan;
  plan.seed = seed;
  plan.prefill.engines = kEngines;
  plan.prefill.ranks = 1;
  plan.prefill.policy = to_string(rule);
  plan.decode.ranks = 32;
  plan.decode.rows_most = 256;
  plan.decode.drafts = "off";
  plan.set_constant("store_blocks", kEngines * kCacheTokens / 128.0, "as large as all caches");
  plan.prefix.own_cache_tokens = store ? 0 : kCacheTokens;
  plan.set_constant("window_miss", 0, "KVROUTER.md compares without windows");
  return plan;
}

struct Replay {
  std::string file;
  double speed = 1;
  std::uint64_t seed = 1;  ///< of ties
};

RouterResult result_of(PrefillRule rule, bool store, const Replay& replay) {
  PdCluster::Options options;
  options.trace_hash = false;
  options.load = TrafficPlan();
  options.load->trace.file = replay.file;
  options.load->trace.speed = replay.speed;
  const auto cluster =
      std::move(PdCluster::make(router_plan(rule, store, replay.seed), std::move(options))).value();
  const Status status = cluster->run();
  TROUPE_ASSERT(status.ok() && cluster->broken_rules().empty(), "a run keeps its rules");
  const TrafficReport& report = cluster->traffic().report();
  TROUPE_ASSERT(report.count(Outcome::kOk) == report.total(), "all are answered");
  RouterResult result;
  const PrefixIndex& prefixes = cluster->route().prefixes();
  result.hit =
      static_cast<double>(prefixes.tokens_hit()) / static_cast<double>(prefixes.tokens_asked());
  result.p50 = report.ttft.percentile(50);
  result.p95 = report.ttft.percentile(95);
  double most = 0;
  for (const GroupUse& engine : cluster->prefill_uses()) most = std::max(most, engine.own);
  result.imbalance = most * kEngines / cluster->prefill_use().own;
  std::fprintf(stderr, "%-12s %-5s  hit %.3f  TTFT p50 %4.0f  p95 %4.0f ms  most/mean work %.3f\n",
               std::string(to_string(rule)).c_str(), store ? "store" : "own", result.hit,
               result.p50 * 1e3, result.p95 * 1e3, result.imbalance);
  return result;
}

}  // namespace

std::vector<Figure> router_figures(const std::string& file) {
  const std::vector<TraceLine> trace = read_trace(file);
  Replay replay;
  replay.file = file;
  replay.speed = kLoad * kEngines * trace.back().at / work_of(trace, PrefillCurve());
  Figure over{"simulate.router_p95_vs_best", "p95 TTFT over the best other", 1.0, true, {}};
  Figure even{"simulate.router_imbalance", "most/mean work", 1.05, true, {}};
  for (replay.seed = 1; replay.seed <= kSeeds; ++replay.seed) {
    const RouterResult ours = result_of(PrefillRule::kBuckets, true, replay);
    double best = 1e9;
    for (const PrefillRule rule :
         {PrefillRule::kRoundRobin, PrefillRule::kLeastWork, PrefillRule::kTwoChoices,
          PrefillRule::kAffinity, PrefillRule::kCost}) {
      for (const bool store : {false, true}) {
        // With one store any engine hits any prefix: those that look for prefixes have no use
        // there.
        if (store && (rule == PrefillRule::kAffinity || rule == PrefillRule::kCost)) continue;
        best = std::min(best, result_of(rule, store, replay).p95);
      }
    }
    over.samples.push_back(ours.p95 / best);
    even.samples.push_back(ours.imbalance);
  }
  return {std::move(over), std::move(even)};
}

}  // namespace troupe::bench
