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
  if (starts_++ == 0) first_start_ = now;
  last_start_ = now;
  lag.record((now - intended).seconds());
  peak_ = std::max(peak_, live);
}

void TrafficReport::record(const ExchangeRecord& record) {
  ++counts_[static_cast<int>(record.outcome)];
  ended_ = std::max(ended_, record.ended);
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
  e2el.record((record.ended - record.intended).seconds());
  if (record.first_token) ttft.record((*record.first_token - record.intended).seconds());
  if (!record.gaps.empty()) ttst.record(record.gaps.front().seconds());
  for (const Duration gap : record.gaps) itl.record(gap.seconds());
  if (const auto each = tpot_of(record); each && each->value > 0) {
    tpot.record(each->seconds());
    user_rate.record(1 / each->seconds());
  }
  if (is_good(record)) ++good_;
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

double TrafficReport::achieved_rate() const {
  const double span = (last_start_ - first_start_).seconds();
  return span <= 0 ? 0 : static_cast<double>(starts_ - 1) / span;
}

}  // namespace troupe
