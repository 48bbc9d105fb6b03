#include "actors/traffic/traffic_report.hpp"

#include <algorithm>

namespace troupe {

namespace {

std::optional<Duration> tpot_of(const ExchangeRecord& record) {
  if (record.output_tokens < 2 || !record.first_token) return std::nullopt;
  return (*record.last_token - *record.first_token) / (record.output_tokens - 1);
}

}  // namespace

void TrafficReport::started(Time intended, Time now, std::uint32_t live) {
  if (starts_++ == 0) {
    first_start_ = now;
    first_intended_ = last_intended_ = intended;
  }
  last_start_ = now;
  // Requests that waited for room may start out of order.
  first_intended_ = std::min(first_intended_, intended);
  last_intended_ = std::max(last_intended_, intended);
  lag.record((now - intended).seconds());
  peak_ = std::max(peak_, live);
  occupancy_.enters(now);
}

void TrafficReport::record(const ExchangeRecord& record) {
  ++counts_[static_cast<int>(record.outcome)];
  ended_ = std::max(ended_, record.ended);
  occupancy_.leaves(record.sent, record.ended);
  if (record.outcome == Outcome::kOk) return record_ok(record);
  if (record.outcome == Outcome::kCancelled) return;
  const std::string what = record.error.empty() ? "no reason given" : record.error;
  const bool room = errors_.size() < kErrorsMax || errors_.contains(what);
  ++errors_[room ? what : "other errors"];
}

void TrafficReport::record_ok(const ExchangeRecord& record) {
  input_tokens_ += record.prompt_tokens;
  output_tokens_ += record.output_tokens;
  isl.record(record.prompt_tokens);
  osl.record(record.output_tokens);
  take_seen(record);
  e2el.record((record.ended - record.intended).seconds());
  sent_e2el.record((record.ended - record.sent).seconds());
  if (record.first_token) {
    const double first = (*record.first_token - record.intended).seconds();
    ttft.record(first);
    const auto edge =
        std::upper_bound(kLengthEdges.begin(), kLengthEdges.end(), record.prompt_tokens);
    ttft_by_length[static_cast<std::size_t>(edge - kLengthEdges.begin())].record(first);
    sent_ttft.record((*record.first_token - record.sent).seconds());
  }
  if (!record.gaps.empty()) ttst.record(record.gaps.front().seconds());
  for (const Duration gap : record.gaps) itl.record(gap.seconds());
  if (const auto each = tpot_of(record); each && each->value > 0) {
    tpot.record(each->seconds());
    user_rate.record(1 / each->seconds());
  }
  if (is_good(record)) ++good_;
}

void TrafficReport::take_seen(const ExchangeRecord& record) {
  if (!record.seen_prompt_tokens) return;
  ++seen_.answers;
  seen_.prompt_tokens += *record.seen_prompt_tokens;
  if (!record.cached_tokens) return;
  ++seen_.cache_answers;
  seen_.cache_prompt_tokens += *record.seen_prompt_tokens;
  seen_.cached_tokens += *record.cached_tokens;
}

std::optional<double> TrafficReport::Seen::cached_share() const {
  if (cache_prompt_tokens == 0) return std::nullopt;
  return static_cast<double>(cached_tokens) / static_cast<double>(cache_prompt_tokens);
}

void TrafficReport::add_note(std::string note) {
  if (!note.empty()) notes_.push_back(std::move(note));
}

bool TrafficReport::is_good(const ExchangeRecord& record) const {
  const Slo& slo = plan_.slo;
  if (slo.ttft && (!record.first_token || *record.first_token - record.intended > *slo.ttft)) {
    return false;
  }
  const auto each = tpot_of(record);
  if (slo.tpot && each && *each > *slo.tpot) return false;
  return !slo.e2el || record.ended - record.intended <= *slo.e2el;
}

std::uint64_t TrafficReport::total() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t one : counts_) sum += one;
  return sum;
}

double TrafficReport::error_share() const {
  const std::uint64_t bad =
      count(Outcome::kFailed) + count(Outcome::kNoToken) + count(Outcome::kTimedOut);
  const std::uint64_t all = bad + count(Outcome::kOk);
  return all == 0 ? 0 : static_cast<double>(bad) / static_cast<double>(all);
}

double TrafficReport::asked_rate() const {
  const double span = (last_intended_ - first_intended_).seconds();
  return span <= 0 ? 0 : static_cast<double>(starts_ - 1) / span;
}

double TrafficReport::achieved_rate() const {
  const double span = (last_start_ - first_start_).seconds();
  return span <= 0 ? 0 : static_cast<double>(starts_ - 1) / span;
}

std::string TrafficReport::commonest_error() const {
  if (errors_.empty()) return "left by its client";
  return std::max_element(errors_.begin(), errors_.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

}  // namespace troupe
