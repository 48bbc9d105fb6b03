#include "actors/prefill_balancer/push_policy.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"

namespace troupe {

namespace {
/// A hit ends at least a window and its roll-back before the prompt does, at a block (seed 000).
constexpr std::uint32_t kNeverHit = 134;
constexpr std::uint32_t kHitGranule = 128;
}  // namespace

PushPolicy::PushPolicy(PrefillPool& pool, PrefillRule rule, const PushOptions& options)
    : pool_(pool), rule_(rule), options_(options), rng_(options.seed) {
  TROUPE_ASSERT(rule != PrefillRule::kBuckets, "buckets are a policy of their own");
}

void PushPolicy::arrived(PrefillJob& job, Handouts& out) {
  if (pool_.engines().empty()) {
    held_.emplace(job.order, job.request);
    return;
  }
  const EngineId engine = choose(job);
  pool_.hand(job, engine, std::max(job.hit, local_hit(job, engine)));
  out.push_back(job.request);
}

void PushPolicy::joined(EngineId engine, Handouts& out) {
  ring_.add(engine);
  if (caches_.size() <= engine.value) caches_.resize(engine.value + 1);
  caches_[engine.value] = {PrefixCache(options_.cache_blocks), false};
  const auto held = std::move(held_);
  held_.clear();
  for (const auto& [order, request] : held) arrived(*pool_.find(request), out);
}

void PushPolicy::left(EngineId engine) {
  ring_.remove(engine);
  caches_[engine.value] = Cache();
}

void PushPolicy::computed(const PrefillJob& job) {
  Cache& cache = caches_[job.engine.value];
  if (!cache.reports) cache.blocks.touch(job.chain);
}

void PushPolicy::reported(EngineId engine, std::span<const std::uint64_t> stored,
                          std::span<const std::uint64_t> evicted) {
  Cache& cache = caches_[engine.value];
  if (!cache.reports) cache = {PrefixCache(options_.cache_blocks), true};
  cache.blocks.touch(stored);
  cache.blocks.forget(evicted);
}

EngineId PushPolicy::choose(const PrefillJob& job) {
  const auto& engines = pool_.engines();
  switch (rule_) {
    case PrefillRule::kRoundRobin:
      return engines[turn_++ % engines.size()];
    case PrefillRule::kTwoChoices: {
      const EngineId one = engines[rng_.below(engines.size())];
      const EngineId other = engines[rng_.below(engines.size())];
      return pool_.least_load(other) < pool_.least_load(one) ? other : one;
    }
    case PrefillRule::kAffinity:
      return of_key(job);
    case PrefillRule::kCost:
      return cheapest(job);
    case PrefillRule::kLeastWork:
    case PrefillRule::kBuckets:
      break;
  }
  return *pool_.idlest(0, job.request.value);
}

EngineId PushPolicy::of_key(const PrefillJob& job) const {
  // A request without a key has nothing to go back to.
  if (job.affinity == 0) return *pool_.idlest(0, job.request.value);
  double sum = 0;
  for (const EngineId engine : pool_.engines()) {
    sum += static_cast<double>(pool_.least_load(engine).value);
  }
  const double mean = sum / static_cast<double>(pool_.engines().size());
  const double bound = options_.bound * mean + static_cast<double>(options_.allowance.value);
  return ring_.find(job.affinity, [&](EngineId engine) {
    return static_cast<double>(pool_.least_load(engine).value) <= bound;
  });
}

std::uint32_t PushPolicy::local_hit(const PrefillJob& job, EngineId engine) const {
  if (job.chain.empty() || job.length <= kNeverHit) return 0;
  const std::uint64_t blocks = caches_[engine.value].blocks.leading(job.chain);
  const std::uint64_t tokens =
      std::min<std::uint64_t>(blocks * options_.block_tokens, job.length - kNeverHit);
  return static_cast<std::uint32_t>(tokens) / kHitGranule * kHitGranule;
}

EngineId PushPolicy::cheapest(const PrefillJob& job) const {
  const auto& engines = pool_.engines();
  const std::size_t start = splitmix64(job.request.value) % engines.size();
  EngineId best = engines[start];
  Duration least(~std::uint64_t{0} >> 1);
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const EngineId engine = engines[(start + i) % engines.size()];
    // No cache can make up for more than the whole prompt: what is worse even so is not asked.
    const Duration queue = pool_.least_load(engine);
    if (queue >= least) continue;
    const std::uint32_t hit = std::max(job.hit, local_hit(job, engine));
    const Duration end = queue + pool_.curve().work(job.length - hit, hit);
    if (end < least) {
      least = end;
      best = engine;
    }
  }
  return best;
}

}  // namespace troupe
