// A small world of prefill engines for comparing policies: events in virtual time, no actors.
//
// Engines are DP groups whose ranks step together: a step takes as long as its slowest rank. Each
// rank has a ChunkQueue. Prefixes are either in one shared store of all engines (then a hit costs
// its fetch, which starts when an engine takes the request), or in a cache of each engine. Blocks
// become visible when they were computed, not when they were asked for.
#pragma once

#include <algorithm>
#include <memory>
#include <queue>
#include <vector>

#include "actors/prefill_balancer/bucket_policy.hpp"
#include "actors/prefill_balancer/chunk_queue.hpp"
#include "actors/prefill_balancer/push_policy.hpp"

namespace troupe {

struct PromptArrival {
  Time at;
  std::uint32_t length = 0;
  std::vector<std::uint64_t> chain;
  std::uint64_t affinity = 0;
};

struct PrefillWorldOptions {
  PrefillRule rule = PrefillRule::kBuckets;
  std::uint32_t engines = 8;
  std::uint32_t ranks = 1;
  bool shared_store = true;
  std::uint32_t cache_blocks = 7'812;  ///< of an engine; the shared store has all of them together
  std::uint32_t block_tokens = 128;
  PrefillCurve curve;
  Duration budget = milliseconds(220);
  Duration round = seconds(1);
  double fetch_ns_a_token = 896 / 50.0;  ///< 896 B at 50 GB/s (CALIB.md)
};

struct PrefillWorldResult {
  std::vector<double> ttft;           ///< seconds, by arrival
  std::vector<std::uint32_t> length;  ///< by arrival
  double hit_share = 0;               ///< of all prompt tokens
  double imbalance = 0;               ///< most over mean work of a rank
  std::uint64_t unfinished = 0;

  double quantile(double q, std::uint32_t below = ~0u) const {
    std::vector<double> kept;
    for (std::size_t i = 0; i < ttft.size(); ++i) {
      if (length[i] < below) kept.push_back(ttft[i]);
    }
    std::sort(kept.begin(), kept.end());
    return kept.empty() ? 0
                        : kept[static_cast<std::size_t>(q * static_cast<double>(kept.size() - 1))];
  }
};

class PrefillWorld {
 public:
  PrefillWorld(const PrefillWorldOptions& options, const std::vector<PromptArrival>& arrivals)
      : options_(options),
        arrivals_(arrivals),
        pool_(options.curve),
        store_(options.cache_blocks * options.engines),
        caches_(options.engines, PrefixCache(options.cache_blocks)) {
    if (options.rule == PrefillRule::kBuckets) {
      policy_ = std::make_unique<BucketPolicy>(
          pool_, BucketOptions::for_engines(options.ranks, options.budget));
    } else {
      PushOptions push;
      push.block_tokens = options.block_tokens;
      push.cache_blocks = options.shared_store ? 0 : options.cache_blocks;
      policy_ = std::make_unique<PushPolicy>(pool_, options.rule, push);
    }
    Handouts none;
    for (std::uint32_t i = 0; i < options.engines; ++i) {
      engines_.emplace_back();
      engines_.back().ranks.assign(options.ranks,
                                   Rank{ChunkQueue(options.curve, options.budget), {}, {}});
      policy_->joined(pool_.add_engine(options.ranks), none);
    }
  }

  PrefillWorldResult run() {
    result_.ttft.assign(arrivals_.size(), 0);
    for (const auto& arrival : arrivals_) result_.length.push_back(arrival.length);
    for (std::size_t i = 0; i < arrivals_.size(); ++i) push(arrivals_[i].at, kArrival, i);
    push(Time() + options_.round, kRound, 0);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      if (event.kind == kArrival) arrive(event.which);
      if (event.kind == kFetched) fetched(event.which);
      if (event.kind == kStep) step_ended(event.which);
      if (event.kind == kRound) round();
    }
    finish_result();
    return result_;
  }

 private:
  enum Kind : std::uint8_t { kArrival, kFetched, kStep, kRound };
  struct Event {
    Time at;
    std::uint64_t seq;
    Kind kind;
    std::size_t which;
    friend bool operator<(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.seq > b.seq;
    }
  };
  struct Rank {
    ChunkQueue queue;
    std::vector<ChunkQueue::Chunk> step;
    Duration work;
  };
  struct Engine {
    std::vector<Rank> ranks;
    bool busy = false;
  };

  void push(Time at, Kind kind, std::size_t which) { events_.push({at, ++seq_, kind, which}); }
  static RequestId id_of(std::size_t arrival) { return RequestId(arrival + 1); }
  const PromptArrival& arrival_of(RequestId request) const { return arrivals_[request.value - 1]; }

  std::uint32_t hit_of(const PrefixCache& cache, const PromptArrival& arrival) const {
    if (arrival.length <= 134) return 0;
    const std::uint64_t tokens =
        std::uint64_t{cache.leading(arrival.chain)} * options_.block_tokens;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(tokens, arrival.length - 134) / 128 *
                                      128);
  }

  void arrive(std::size_t which) {
    const PromptArrival& arrival = arrivals_[which];
    PrefillJob job;
    job.request = id_of(which);
    job.length = arrival.length;
    job.affinity = arrival.affinity;
    job.chain = arrival.chain;
    job.came = now_;
    if (options_.shared_store) job.hit = hit_of(store_, arrival);
    Handouts handouts;
    policy_->arrived(pool_.add_job(std::move(job)), handouts);
    take(handouts);
  }

  void take(const Handouts& handouts) {
    for (const RequestId request : handouts) {
      const PrefillJob& job = *pool_.find(request);
      const double fetch = options_.shared_store ? job.hit * options_.fetch_ns_a_token : 0;
      push(now_ + nanoseconds(static_cast<std::int64_t>(fetch)), kFetched, request.value);
    }
  }

  void fetched(std::size_t request) {
    const PrefillJob& job = *pool_.find(RequestId(request));
    const std::size_t engine = job.engine.value;
    const std::uint32_t hit =
        options_.shared_store ? job.hit : hit_of(caches_[engine], arrival_of(job.request));
    hits_ += hit;
    engines_[engine].ranks[job.rank].queue.push(job.request, hit, job.length);
    if (!engines_[engine].busy) begin_step(engine);
  }

  void begin_step(std::size_t which) {
    Engine& engine = engines_[which];
    Duration slowest;
    engine.busy = false;
    for (Rank& rank : engine.ranks) {
      rank.step = rank.queue.next_step();
      engine.busy = engine.busy || !rank.step.empty();
      slowest = std::max(slowest, rank.queue.predicted());
      rank.work += rank.queue.predicted();
    }
    if (engine.busy) push(now_ + slowest, kStep, which);
  }

  void step_ended(std::size_t which) {
    for (Rank& rank : engines_[which].ranks) {
      for (const auto& chunk : rank.step) {
        PrefillJob& job = *pool_.find(chunk.request);
        pool_.advance(job, chunk.start + chunk.tokens);
        if (!chunk.last) continue;
        const PromptArrival& arrival = arrival_of(chunk.request);
        result_.ttft[chunk.request.value - 1] = (now_ - arrival.at).seconds();
        (options_.shared_store ? store_ : caches_[which]).touch(arrival.chain);
        policy_->computed(job);
        pool_.take_back(job);
        pool_.drop_job(chunk.request);
        ++finished_;
      }
    }
    begin_step(which);
    Handouts handouts;
    policy_->has_room(EngineId(static_cast<std::uint32_t>(which)), handouts);
    take(handouts);
  }

  void round() {
    Handouts handouts;
    policy_->round(handouts);
    take(handouts);
    if (finished_ < arrivals_.size()) push(now_ + options_.round, kRound, 0);
  }

  void finish_result() {
    double sum = 0;
    double most = 0;
    double tokens = 0;
    for (const Engine& engine : engines_) {
      for (const Rank& rank : engine.ranks) {
        sum += rank.work.seconds();
        most = std::max(most, rank.work.seconds());
      }
    }
    for (const auto& arrival : arrivals_) tokens += arrival.length;
    result_.imbalance = most / (sum / (options_.engines * options_.ranks));
    result_.hit_share = hits_ / tokens;
    result_.unfinished = arrivals_.size() - finished_;
  }

  PrefillWorldOptions options_;
  const std::vector<PromptArrival>& arrivals_;
  PrefillPool pool_;
  std::unique_ptr<PrefillPolicy> policy_;
  PrefixCache store_;
  std::vector<PrefixCache> caches_;
  std::vector<Engine> engines_;
  std::priority_queue<Event> events_;
  std::uint64_t seq_ = 0;
  Time now_;
  double hits_ = 0;
  std::uint64_t finished_ = 0;
  PrefillWorldResult result_;
};

}  // namespace troupe
