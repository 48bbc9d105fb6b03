// Prefill policies against each other on a recorded trace: all of them in one run, in the world of
// the policies' own tests (tests/actors/prefill_balancer/prefill_world.hpp).
#include <unordered_map>

#include "tests/actors/prefill_balancer/prefill_world.hpp"
#include "tests/bench/simulate/figures.hpp"

namespace troupe::bench {

namespace {

constexpr std::uint32_t kEngines = 8;
constexpr std::uint32_t kTraceBlock = 512;
constexpr std::uint32_t kCacheTokens = 1'000'000;
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

std::vector<PromptArrival> arrivals_of(const std::vector<TraceLine>& trace, double speed) {
  std::vector<PromptArrival> arrivals;
  for (const TraceLine& line : trace) {
    PromptArrival arrival;
    arrival.at = Time() + from_seconds(line.at / speed);
    arrival.length = line.input;
    arrival.chain = line.blocks;
    // The first 2,048 tokens, as in KVROUTER.md.
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, line.blocks.size()); ++i) {
      key = mix64(key, line.blocks[i]);
    }
    arrival.affinity = key;
    arrivals.push_back(std::move(arrival));
  }
  return arrivals;
}

}  // namespace

std::vector<Figure> router_figures(const std::vector<TraceLine>& trace) {
  PrefillWorldOptions options;
  options.engines = kEngines;
  options.ranks = 1;
  options.cache_blocks = kCacheTokens / kTraceBlock;
  options.block_tokens = kTraceBlock;
  const double speed = kLoad * kEngines * trace.back().at / work_of(trace, options.curve);
  const auto arrivals = arrivals_of(trace, speed);
  const auto measure = [&](PrefillRule rule, bool store) {
    options.rule = rule;
    options.shared_store = store;
    const PrefillWorldResult result = PrefillWorld(options, arrivals).run();
    std::fprintf(stderr, "%-12s %-5s  hit %.3f  p50 %4.0f  p95 %4.0f ms  most/mean work %.3f\n",
                 std::string(to_string(rule)).c_str(), store ? "store" : "own", result.hit_share,
                 result.quantile(0.5) * 1e3, result.quantile(0.95) * 1e3, result.imbalance);
    return result;
  };
  const PrefillWorldResult ours = measure(PrefillRule::kBuckets, true);
  double best = 1e9;
  for (const PrefillRule rule :
       {PrefillRule::kRoundRobin, PrefillRule::kLeastWork, PrefillRule::kTwoChoices,
        PrefillRule::kAffinity, PrefillRule::kCost}) {
    for (const bool store : {false, true}) {
      // With one store any engine hits any prefix: those that look for prefixes have no use there.
      if (store && (rule == PrefillRule::kAffinity || rule == PrefillRule::kCost)) continue;
      best = std::min(best, measure(rule, store).quantile(0.95));
    }
  }
  return {{"simulate.router_p95_vs_best",
           "p95 TTFT over the best other",
           1.0,
           true,
           {ours.quantile(0.95) / best}},
          {"simulate.router_imbalance", "most/mean work", 1.05, true, {ours.imbalance}}};
}

}  // namespace troupe::bench
