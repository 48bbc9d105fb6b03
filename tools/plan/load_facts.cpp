#include "tools/plan/load_facts.hpp"

#include <algorithm>
#include <map>

#include "actors/load/trace_source.hpp"
#include "tools/plan/endless_cache.hpp"

namespace troupe {

namespace {

constexpr std::int64_t kMinute = seconds(60).value;

/// Requests in order of time, later turns among the first ones.
class Walk {
 public:
  explicit Walk(RequestSource& source) : source_(source) {}

  Result<std::optional<PlannedRequest>> next() {
    if (!coming_ && !ended_) {
      TROUPE_TRY_ASSIGN(coming_, source_.next());
      ended_ = !coming_;
    }
    std::optional<PlannedRequest> request;
    if (!turns_.empty() && (!coming_ || turns_.begin()->first <= coming_->at)) {
      request = std::move(turns_.extract(turns_.begin()).mapped());
    } else if (coming_) {
      request = std::exchange(coming_, std::nullopt);
    }
    if (!request) return request;
    if (auto turn = source_.after(*request)) {
      turn->at += request->at;
      const Duration at = turn->at;
      turns_.emplace(at, std::move(*turn));
    }
    return request;
  }

 private:
  RequestSource& source_;
  std::optional<PlannedRequest> coming_;
  std::multimap<Duration, PlannedRequest> turns_;
  bool ended_ = false;
};

/// Requests a second, from whole minutes.
class Rates {
 public:
  void take(Duration at) {
    last_ = at;
    ++count_;
    ++minutes_[at.value / kMinute];
  }
  double mean() const {
    return last_.value == 0 ? 0 : static_cast<double>(count_ - 1) / last_.seconds();
  }
  double peak() const {
    if (last_.value < 2 * kMinute) return 0;
    std::uint64_t most = 0;
    for (const auto& [minute, count] : minutes_) {
      // The last minute is not whole.
      if (minute < last_.value / kMinute) most = std::max(most, count);
    }
    return static_cast<double>(most) / 60;
  }

 private:
  Duration last_;
  std::uint64_t count_ = 0;
  std::map<std::int64_t, std::uint64_t> minutes_;
};

}  // namespace

Result<LoadFacts> facts_of(const TrafficPlan& plan) {
  TROUPE_TRY_ASSIGN(const auto source, open_source(plan));
  const std::uint64_t most =
      plan.num_requests > 0 ? std::min(plan.num_requests, kFactsRequestsMax) : kFactsRequestsMax;
  Walk walk(*source);
  EndlessCache cache;
  Rates rates;
  double prompt = 0, cached = 0, output = 0;
  LoadFacts facts;
  for (; facts.requests < most; ++facts.requests) {
    TROUPE_TRY_ASSIGN(const auto request, walk.next());
    if (!request || (plan.duration.value > 0 && request->at > plan.duration)) break;
    cached += static_cast<double>(cache.take(*request));
    prompt += static_cast<double>(tokens_of(request->prompt));
    output += request->output_tokens;
    if (source->timed()) rates.take(request->at);
  }
  if (facts.requests == 0) return Error{Code::kInvalid, "the load has no request"};
  if (cache.full()) {
    return Error{Code::kTooLarge,
                 "the load's prompts have more blocks than are remembered; look at a part of it "
                 "with --num-requests, or say --hit"};
  }
  const auto count = static_cast<double>(facts.requests);
  facts.prompt = prompt / count;
  facts.hit = cached / prompt;
  facts.output = output / count;
  facts.rate = rates.mean();
  facts.peak_rate = rates.peak();
  return facts;
}

}  // namespace troupe
