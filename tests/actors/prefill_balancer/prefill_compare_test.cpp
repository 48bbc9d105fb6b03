// Prefill policies against each other on seeded traffic: sessions whose turns repeat their past,
// and a mix of short and very long prompts. The orders that KVROUTER.md found on recorded traffic
// hold.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "tests/actors/prefill_balancer/prefill_world.hpp"

namespace troupe {
namespace {

double gauss(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.uniform())) *
         std::cos(2 * std::numbers::pi * rng.uniform());
}

double lognormal(Rng& rng, double mean, double sigma) {
  return mean * std::exp(sigma * gauss(rng) - sigma * sigma / 2);
}

void number_by_time(std::vector<PromptArrival>& all) {
  std::sort(all.begin(), all.end(),
            [](const PromptArrival& a, const PromptArrival& b) { return a.at < b.at; });
}

/// Sessions of some turns; each turn holds the whole past. Blocks of 512 tokens, as the traces
/// have.
std::vector<PromptArrival> sessions(std::uint64_t seed, double sessions_a_second) {
  constexpr std::uint32_t kBlock = 512;
  Rng rng(seed);
  std::vector<PromptArrival> all;
  double start = 0;
  for (std::uint64_t session = 1; session <= 2'500; ++session) {
    start += rng.exponential(1 / sessions_a_second);
    double at = start;
    double length = std::min(100'000.0, lognormal(rng, 8'000, 1));
    const auto turns = 1 + rng.below(8);
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      PromptArrival one;
      one.at = Time() + from_seconds(at);
      one.length = static_cast<std::uint32_t>(length) + 1;
      one.affinity = session;
      for (std::uint32_t i = 0; i < one.length / kBlock; ++i)
        one.chain.push_back(mix64(session, i));
      all.push_back(std::move(one));
      at += rng.exponential(20);
      length += lognormal(rng, 2'000, 1);
    }
  }
  number_by_time(all);
  return all;
}

PrefillWorldResult run(PrefillRule rule, bool store, const std::vector<PromptArrival>& arrivals) {
  PrefillWorldOptions options;
  options.rule = rule;
  options.shared_store = store;
  options.block_tokens = 512;
  options.cache_blocks = 1'953;  // 1 M tokens
  PrefillWorld world(options, arrivals);
  const PrefillWorldResult result = world.run();
  std::printf("%s %-11s hit %.3f  imbalance %.3f  TTFT p50 %4.0f  p95 %5.0f  p99 %5.0f ms\n",
              store ? "store" : "own  ", std::string(to_string(rule)).c_str(), result.hit_share,
              result.imbalance, result.quantile(0.5) * 1e3, result.quantile(0.95) * 1e3,
              result.quantile(0.99) * 1e3);
  EXPECT_EQ(result.unfinished, 0u);
  return result;
}

TEST(PrefillCompare, WithCachesOfTheirOwnBlindRulesLoseTheHits) {
  const auto arrivals = sessions(1, 12);
  const auto round_robin = run(PrefillRule::kRoundRobin, false, arrivals);
  const auto least = run(PrefillRule::kLeastWork, false, arrivals);
  const auto two = run(PrefillRule::kTwoChoices, false, arrivals);
  const auto affinity = run(PrefillRule::kAffinity, false, arrivals);
  const auto cost = run(PrefillRule::kCost, false, arrivals);
  for (const auto* blind : {&round_robin, &least, &two}) {
    EXPECT_LT(blind->hit_share, 0.3 * cost.hit_share);
    EXPECT_GT(blind->quantile(0.95), 2 * cost.quantile(0.95));
  }
  EXPECT_GT(affinity.hit_share, 0.7 * cost.hit_share);
  EXPECT_LT(cost.quantile(0.95), affinity.quantile(0.95));
  EXPECT_LT(cost.imbalance, affinity.imbalance);
}

TEST(PrefillCompare, WithTheSharedStoreHitsAndBalanceStopConflicting) {
  const auto arrivals = sessions(1, 12);
  const auto own_cost = run(PrefillRule::kCost, false, arrivals);
  const auto seed = run(PrefillRule::kBuckets, true, arrivals);
  EXPECT_GT(seed.hit_share, own_cost.hit_share);
  EXPECT_LT(seed.quantile(0.95), own_cost.quantile(0.95));
  for (const auto rule :
       {PrefillRule::kRoundRobin, PrefillRule::kTwoChoices, PrefillRule::kAffinity}) {
    EXPECT_LT(seed.quantile(0.95), run(rule, true, arrivals).quantile(0.95)) << to_string(rule);
  }
  // One pool is about as good on this traffic, which has few long prompts: see docs/balancers.md.
  const auto pool = run(PrefillRule::kLeastWork, true, arrivals);
  EXPECT_LT(seed.quantile(0.95), 1.05 * pool.quantile(0.95));
  EXPECT_LE(seed.quantile(0.5), pool.quantile(0.5));
  EXPECT_LT(seed.imbalance, 1.10);
}

// What-if W14: buckets must not raise the P99 of prompts below 16K; engines of four ranks.
TEST(PrefillCompare, BucketsDoNotDelayShortPrompts) {
  Rng rng(3);
  std::vector<PromptArrival> arrivals;
  double at = 0;
  for (int i = 0; i < 12'000; ++i) {
    at += rng.exponential(1 / 140.0);
    PromptArrival one;
    one.at = Time() + from_seconds(at);
    const double mean = rng.chance(0.005) ? 300'000 : rng.chance(0.1) ? 40'000 : 4'000;
    one.length = 1 + static_cast<std::uint32_t>(std::min(1e6, lognormal(rng, mean, 0.6)));
    arrivals.push_back(std::move(one));
  }
  const auto measure = [&](PrefillRule rule) {
    PrefillWorldOptions options;
    options.rule = rule;
    options.engines = 6;
    options.ranks = 4;
    PrefillWorld world(options, arrivals);
    const auto result = world.run();
    std::printf("%-11s below 16K: p50 %4.0f  p99 %5.0f ms; all: p99 %5.0f ms\n",
                std::string(to_string(rule)).c_str(), result.quantile(0.5, 16'384) * 1e3,
                result.quantile(0.99, 16'384) * 1e3, result.quantile(0.99) * 1e3);
    EXPECT_EQ(result.unfinished, 0u);
    return result;
  };
  const auto buckets = measure(PrefillRule::kBuckets);
  const auto pool = measure(PrefillRule::kLeastWork);
  EXPECT_LT(buckets.quantile(0.99, 16'384), 1.05 * pool.quantile(0.99, 16'384));
  EXPECT_LT(buckets.quantile(0.5, 16'384), 0.9 * pool.quantile(0.5, 16'384));
}

}  // namespace
}  // namespace troupe
