#include "actors/prefill_balancer/bucket_policy.hpp"

#include <algorithm>

namespace troupe {

BucketOptions BucketOptions::for_engines(std::uint32_t ranks, Duration step) {
  BucketOptions options;
  options.step = step;
  options.most = step * 2;
  options.partners = ranks > 1;
  if (!options.partners) {
    options.least = step / 4;
    options.most = step;
  }
  return options;
}

std::uint32_t BucketPolicy::lane_count() const {
  return lanes_.back() + 1;
}

void BucketPolicy::arrived(PrefillJob& job, Handouts& out) {
  const std::uint32_t bucket = bucket_of(job.length);
  if (rounds_ == 0) unsplit_ = true;
  // What waits at the end of a round asks for quota too: waiting_quota_.
  waiting_quota_[bucket] += static_cast<double>(job.quota.value);
  job.turn = options_.partners ? job.came : job.came + job.quota;
  queues_[bucket].emplace(std::pair(job.turn, job.order), job.request);
  ++waiting_;
  const auto own = pool_.idlest(lanes_[bucket], job.request.value);
  const bool idle = own && pool_.least_load(*own) == Duration();
  const auto other = idle ? std::nullopt : helper(job);
  if (other) return has_room(*other, out);
  if (own) has_room(*own, out);
}

void BucketPolicy::withdrawn(const PrefillJob& job) {
  const std::uint32_t bucket = bucket_of(job.length);
  if (queues_[bucket].erase({job.turn, job.order}) == 0) return;
  --waiting_;
  waiting_quota_[bucket] -= static_cast<double>(job.quota.value);
}

void BucketPolicy::joined(EngineId engine, Handouts& out) {
  ++engines_[0];
  ranks_[0] += pool_.ranks_of(engine);
  merge_lanes();
  // Where most is missing; as long as nobody asked for anything, evenly.
  auto lanes = state_of_lanes();
  const bool asked =
      std::any_of(lanes.begin(), lanes.end(), [](const Lane& l) { return l.demand > 0; });
  const auto shares = fair_shares(lanes);
  --lanes[pool_.group_of(engine)].engines;
  const auto missing = [&](std::uint32_t lane) {
    const auto share = static_cast<std::int64_t>(asked ? shares[lane] : 0);
    return share - static_cast<std::int64_t>(lanes[lane].engines);
  };
  std::uint32_t neediest = 0;
  for (std::uint32_t lane = 1; lane < lanes.size(); ++lane) {
    if (missing(lane) > missing(neediest)) neediest = lane;
  }
  set_lane(engine, neediest);
  has_room(engine, out);
}

void BucketPolicy::left(EngineId engine) {
  merge_lanes(engine);
  --engines_[pool_.group_of(engine)];
  ranks_[pool_.group_of(engine)] -= pool_.ranks_of(engine);
}

void BucketPolicy::set_lane(EngineId engine, std::uint32_t lane) {
  const std::uint32_t ranks = pool_.ranks_of(engine);
  --engines_[pool_.group_of(engine)];
  ranks_[pool_.group_of(engine)] -= ranks;
  ++engines_[lane];
  ranks_[lane] += ranks;
  pool_.set_group(engine, lane);
}

void BucketPolicy::merge_lanes(EngineId leaving) {
  std::vector<EngineId> engines = pool_.engines();
  std::erase(engines, leaving);
  if (engines.empty()) return;
  const auto lanes = lanes_of(demand_, static_cast<std::uint32_t>(engines.size()));
  if (lanes == lanes_) return;
  lanes_ = lanes;
  // Only with at most one engine a bucket do lanes ever change.
  for (std::uint32_t i = 0; i < engines.size(); ++i) set_lane(engines[i], i % lane_count());
}

PrefillJob* BucketPolicy::head(std::uint32_t lane) {
  const Queue* first = nullptr;
  for (std::uint32_t bucket = 0; bucket < kLengthBuckets; ++bucket) {
    const Queue& queue = queues_[bucket];
    if (lanes_[bucket] != lane || queue.empty()) continue;
    if (first == nullptr || queue.begin()->first < first->begin()->first) first = &queue;
  }
  return first == nullptr ? nullptr : pool_.find(first->begin()->second);
}

void BucketPolicy::hand(PrefillJob& job, EngineId engine, Handouts& out) {
  withdrawn(job);
  asked_[bucket_of(job.length)] += static_cast<double>(job.quota.value);
  pool_.hand(job, engine, job.hit);
  out.push_back(job.request);
}

Duration BucketPolicy::level_of(EngineId engine, std::uint32_t lane) const {
  double waiting = 0;
  for (std::uint32_t bucket = 0; bucket < kLengthBuckets; ++bucket) {
    if (lanes_[bucket] == lane) waiting += waiting_quota_[bucket];
  }
  const Duration share(static_cast<std::int64_t>(waiting / ranks_[lane]));
  return std::clamp(std::max(share, pool_.most_load(engine)), options_.least, options_.most);
}

void BucketPolicy::has_room(EngineId engine, Handouts& out) {
  if (waiting_ == 0) return;
  while (PrefillJob* next = next_for(engine)) hand(*next, engine, out);
}

PrefillJob* BucketPolicy::next_for(EngineId engine) {
  const Duration load = pool_.least_load(engine);
  const std::uint32_t lane = pool_.group_of(engine);
  if (load < level_of(engine, lane)) {
    if (PrefillJob* own = head(lane)) {
      PrefillJob* first = load < options_.least ? or_late(own, engine) : own;
      const bool alone = !options_.partners && first->quota > options_.step;
      return alone && load > Duration() ? nullptr : first;
    }
  }
  return load == Duration() ? head_to_help(engine) : nullptr;
}

PrefillJob* BucketPolicy::or_late(PrefillJob* own, EngineId engine) {
  PrefillJob* first = own;
  for (std::uint32_t lane = 0; lane < lane_count(); ++lane) {
    if (lane == pool_.group_of(engine) || !may_help(engine, lane)) continue;
    PrefillJob* other = head(lane);
    if (other == nullptr || other->turn + options_.step >= own->turn) continue;
    if (other->turn < first->turn) first = other;
  }
  return first;
}

bool BucketPolicy::may_help(EngineId engine, std::uint32_t lane) const {
  const std::uint32_t own = pool_.group_of(engine);
  if (lane < own) return true;
  // A long prompt makes all ranks of the engine step as long as they may.
  if (pool_.most_load(engine) > Duration()) return false;
  if (!options_.guard || engines_[own] > 1) return true;
  for (std::uint32_t bucket = 0; bucket < kLengthBuckets; ++bucket) {
    if (lanes_[bucket] == own && (demand_[bucket] > 0 || asked_[bucket] > 0)) return false;
  }
  return true;
}

PrefillJob* BucketPolicy::head_to_help(EngineId engine) {
  const std::uint32_t own = pool_.group_of(engine);
  for (std::uint32_t distance = 1; distance < lane_count(); ++distance) {
    const std::uint32_t longer = own + distance;
    if (longer < lane_count() && may_help(engine, longer)) {
      if (PrefillJob* job = head(longer)) return job;
    }
    if (distance <= own) {
      if (PrefillJob* job = head(own - distance)) return job;
    }
  }
  return nullptr;
}

std::optional<EngineId> BucketPolicy::helper(const PrefillJob& job) const {
  const std::uint32_t lane = lanes_[bucket_of(job.length)];
  const auto idle_of = [&](std::uint32_t other) -> std::optional<EngineId> {
    const auto engine = pool_.idlest(other, job.request.value);
    const bool idle = engine && pool_.least_load(*engine) == Duration();
    return idle && may_help(*engine, lane) ? engine : std::nullopt;
  };
  for (std::uint32_t distance = 1; distance < lane_count(); ++distance) {
    if (distance <= lane) {
      if (const auto engine = idle_of(lane - distance)) return engine;
    }
    if (lane + distance < lane_count()) {
      if (const auto engine = idle_of(lane + distance)) return engine;
    }
  }
  return std::nullopt;
}

std::vector<Lane> BucketPolicy::state_of_lanes() const {
  std::vector<Lane> lanes(lane_count());
  for (std::uint32_t bucket = 0; bucket < kLengthBuckets; ++bucket) {
    Lane& lane = lanes[lanes_[bucket]];
    lane.demand += demand_[bucket];
    lane.work = lane.work || asked_[bucket] > 0 || !queues_[bucket].empty();
  }
  for (std::uint32_t i = 0; i < lanes.size(); ++i) lanes[i].engines = engines_[i];
  return lanes;
}

void BucketPolicy::smooth() {
  BucketDemand asked{};
  double all = 0;
  for (std::uint32_t bucket = 0; bucket < kLengthBuckets; ++bucket) {
    asked[bucket] = asked_[bucket] + waiting_quota_[bucket];
    all += asked[bucket];
  }
  if (all > 0 && rounds_ < options_.settling) ++rounds_;
  // The mean of the first rounds; later the newest one weighs as much as it may.
  const double newest = rounds_ > 0 ? std::max(options_.newest, 1.0 / rounds_) : options_.newest;
  double left = 0;
  for (std::uint32_t bucket = 0; bucket < kLengthBuckets; ++bucket) {
    demand_[bucket] = (1 - newest) * demand_[bucket] + newest * asked[bucket];
    // Below a thousandth of a step nobody needs an engine for it.
    if (demand_[bucket] < 1e5) demand_[bucket] = 0;
    left += demand_[bucket];
  }
  if (left == 0) rounds_ = 0;
}

void BucketPolicy::round(Handouts& out) {
  unsplit_ = false;
  const bool settled = rounds_ >= options_.settling;
  smooth();
  if (pool_.engines().empty()) {
    asked_ = {};
    return;
  }
  merge_lanes();
  const auto lanes = state_of_lanes();
  asked_ = {};
  const std::uint32_t moves =
      settled ? options_.moves_a_round : static_cast<std::uint32_t>(pool_.engines().size());
  for (const EngineMove& move : moves_of_round(lanes, fair_shares(lanes), moves)) {
    const auto engine = pool_.idlest(move.from, 0);
    TROUPE_ASSERT(engine.has_value(), "a lane gives only engines that it has");
    set_lane(*engine, move.to);
    has_room(*engine, out);
  }
}

}  // namespace troupe
