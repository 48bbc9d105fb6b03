#include "actors/prefill_balancer/prefill_pool.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

EngineId PrefillPool::add_engine(std::uint32_t ranks) {
  TROUPE_ASSERT(ranks > 0, "an engine has ranks");
  if (unused_.empty()) {
    unused_.emplace_back(static_cast<std::uint32_t>(engines_.size()));
    engines_.emplace_back();
  }
  const EngineId id = unused_.back();
  unused_.pop_back();
  engines_[id.value] = Engine();
  engines_[id.value].loads.resize(ranks);
  there_.insert(std::lower_bound(there_.begin(), there_.end(), id), id);
  order_of(0).set(id.value, key_of(id));
  return id;
}

void PrefillPool::remove_engine(EngineId id) {
  Engine& engine = engines_[id.value];
  TROUPE_ASSERT(engine.jobs == 0, "an engine's jobs are taken back before it leaves");
  order_of(engine.group).set(id.value, Order::kWorst);
  engine = Engine();
  std::erase(there_, id);
  unused_.push_back(id);
}

void PrefillPool::set_group(EngineId id, std::uint32_t group) {
  order_of(engines_[id.value].group).set(id.value, Order::kWorst);
  engines_[id.value].group = group;
  order_of(group).set(id.value, key_of(id));
}

PrefillJob& PrefillPool::add_job(PrefillJob job) {
  job.order = ++next_order_;
  job.computed = job.hit = std::min(job.hit, job.length);
  job.quota = curve_.work(job.length - job.hit, job.hit);
  const RequestId request = job.request;
  return jobs_.insert(request, std::move(job));
}

void PrefillPool::drop_job(RequestId request) {
  TROUPE_ASSERT(find(request) != nullptr && find(request)->waiting(),
                "only a waiting job is dropped");
  jobs_.erase(request);
}

std::vector<RequestId> PrefillPool::jobs_of(EngineId engine) const {
  std::vector<RequestId> jobs;
  for (const auto& [request, job] : jobs_) {
    if (job.engine == engine) jobs.push_back(request);
  }
  std::sort(jobs.begin(), jobs.end(),
            [&](RequestId a, RequestId b) { return jobs_.find(a)->order < jobs_.find(b)->order; });
  return jobs;
}

void PrefillPool::hand(PrefillJob& job, EngineId id, std::uint32_t hit) {
  TROUPE_ASSERT(job.waiting(), "a job is handed to one engine");
  Engine& engine = engines_[id.value];
  const auto ranks = static_cast<std::uint32_t>(engine.loads.size());
  const auto start = static_cast<std::uint32_t>(splitmix64(job.request.value) % ranks);
  std::uint32_t lowest = start;
  for (std::uint32_t i = 1; i < ranks; ++i) {
    const std::uint32_t rank = (start + i) % ranks;
    if (engine.loads[rank] < engine.loads[lowest]) lowest = rank;
  }
  job.engine = id;
  job.rank = lowest;
  job.computed = std::min(hit, job.length);
  ++job.generation;
  job.load = curve_.work(job.length - job.computed, job.computed);
  ++engine.jobs;
  set_load(id, lowest, job.load);
}

void PrefillPool::advance(PrefillJob& job, std::uint32_t computed) {
  if (job.waiting() || computed <= job.computed) return;
  job.computed = std::min(computed, job.length);
  const Duration left = curve_.work(job.length - job.computed, job.computed);
  set_load(job.engine, job.rank, left - job.load);
  job.load = left;
}

void PrefillPool::take_back(PrefillJob& job) {
  TROUPE_ASSERT(!job.waiting(), "a job that waits is nowhere to be taken from");
  --engines_[job.engine.value].jobs;
  set_load(job.engine, job.rank, Duration() - job.load);
  job.load = Duration();
  job.computed = job.hit;
  job.engine = kNoEngine;
}

std::optional<EngineId> PrefillPool::idlest(std::uint32_t group, std::uint64_t hash) const {
  if (group >= groups_.size() || groups_[group].best() == Order::kWorst) return std::nullopt;
  const auto start = static_cast<std::uint32_t>(splitmix64(hash) % engines_.size());
  return EngineId(groups_[group].holder(start));
}

Uint128 PrefillPool::key_of(EngineId id) const {
  const Engine& engine = engines_[id.value];
  return static_cast<Uint128>(static_cast<std::uint64_t>(engine.least.value)) << 64 |
         static_cast<std::uint64_t>(engine.sum.value);
}

PrefillPool::Order& PrefillPool::order_of(std::uint32_t group) {
  if (groups_.size() <= group) groups_.resize(group + 1);
  return groups_[group];
}

void PrefillPool::set_load(EngineId id, std::uint32_t rank, Duration change) {
  Engine& engine = engines_[id.value];
  engine.loads[rank] += change;
  TROUPE_ASSERT(engine.loads[rank] >= Duration(), "a load is a sum of what was added");
  const auto [least, most] = std::minmax_element(engine.loads.begin(), engine.loads.end());
  engine.least = *least;
  engine.most = *most;
  engine.sum += change;
  total_ += change;
  order_of(engine.group).set(id.value, key_of(id));
}

}  // namespace troupe
