#include "actors/gateway/admission.hpp"

#include <algorithm>
#include <cstdio>

#include "actors/gateway/api_error.hpp"
#include "runtime/base/assert.hpp"

namespace troupe {

namespace {

constexpr Duration kMinute = seconds(60);
/// Nobody can say when one of a tenant's own requests ends.
constexpr Duration kConcurrentRetry = seconds(1);

std::int64_t whole_seconds(Duration duration) {
  return (duration.value + 999'999'999) / 1'000'000'000;
}

/// "1.25s", as OpenAI's reset headers and messages write it.
std::string decimal_seconds(Duration duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fs", duration.seconds());
  return text;
}

/// RFC 3339 in UTC, from the days of the proleptic Gregorian calendar (Hinnant's algorithm for
/// civil_from_days), so that no time zone of the process gets in.
std::string rfc3339(std::int64_t unix_seconds) {
  const std::int64_t days = unix_seconds / 86'400;
  const std::int64_t rest = unix_seconds % 86'400;
  const std::int64_t shifted = days + 719'468;  // days since 0000-03-01
  const std::int64_t era = shifted / 146'097;
  const std::int64_t day_of_era = shifted % 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const std::int64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  const std::int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", static_cast<int>(year),
                static_cast<int>(month), static_cast<int>(day), static_cast<int>(rest / 3'600),
                static_cast<int>(rest / 60 % 60), static_cast<int>(rest % 60));
  return text;
}

}  // namespace

Admission::Admission(std::vector<TenantLimits> tenants) {
  for (auto& limits : tenants) {
    high_reserved_ = high_reserved_ || limits.priority == Priority::kHigh;
    const std::string name = limits.name;
    tenants_[name].limits = std::move(limits);
  }
}

std::uint32_t Admission::room(const std::string& tenant, std::uint32_t requests_max) const {
  const auto at = tenants_.find(tenant);
  const Priority priority = at == tenants_.end() ? Priority::kNormal : at->second.limits.priority;
  if (priority == Priority::kLow) return std::max(1u, requests_max / 2);
  if (priority == Priority::kHigh || !high_reserved_) return requests_max;
  return std::max(1u, requests_max - requests_max / 10);
}

Admission::Verdict Admission::admit(const std::string& name, Time now) {
  const auto at = tenants_.find(name);
  if (at == tenants_.end()) return {};
  Tenant& tenant = at->second;
  const std::uint32_t rate = tenant.limits.requests_per_minute;
  Verdict verdict;
  Duration used = std::max(Duration(), tenant.full_at - now);
  const Duration one = rate == 0 ? Duration() : kMinute / rate;
  if (tenant.limits.concurrent > 0 && tenant.live >= tenant.limits.concurrent) {
    verdict.outcome = Outcome::kConcurrent;
    verdict.retry_after = kConcurrentRetry;
  } else if (used + one > kMinute) {
    verdict.outcome = Outcome::kRate;
    verdict.retry_after = used + one - kMinute;
  } else {
    used = used + one;
    tenant.full_at = now + used;
    ++tenant.live;
  }
  if (rate == 0) return verdict;
  verdict.limit = rate;
  verdict.remaining = static_cast<std::uint32_t>((kMinute - used).value / one.value);
  verdict.full_in = used;
  return verdict;
}

void Admission::release(const std::string& name) {
  const auto at = tenants_.find(name);
  if (at == tenants_.end()) return;
  TROUPE_ASSERT(at->second.live > 0, "a request is released once");
  --at->second.live;
}

HeaderList rate_headers(const Admission::Verdict& verdict, recipe::Protocol protocol,
                        std::int64_t unix_seconds) {
  if (verdict.limit == 0) return {};
  const std::string limit = std::to_string(verdict.limit);
  const std::string remaining = std::to_string(verdict.remaining);
  if (protocol == recipe::Protocol::kMessages) {
    return {{"anthropic-ratelimit-requests-limit", limit},
            {"anthropic-ratelimit-requests-remaining", remaining},
            {"anthropic-ratelimit-requests-reset",
             rfc3339(unix_seconds + whole_seconds(verdict.full_in))}};
  }
  return {{"x-ratelimit-limit-requests", limit},
          {"x-ratelimit-remaining-requests", remaining},
          {"x-ratelimit-reset-requests", decimal_seconds(verdict.full_in)}};
}

SessionRespond too_many_requests(std::uint64_t exchange, const Admission::Verdict& verdict,
                                 recipe::Protocol protocol, std::int64_t unix_seconds) {
  TROUPE_ASSERT(verdict.outcome != Admission::Outcome::kAdmitted, "a refusal");
  const bool rate = verdict.outcome == Admission::Outcome::kRate;
  ApiError error;
  error.status = 429;
  error.type = "rate_limit_error";
  error.code = "rate_limit_exceeded";
  // Codex reads the delay out of "try again in 1.50s".
  error.message = std::string(rate ? "this key's requests a minute are used up"
                                   : "this key has as many requests under way as it may") +
                  ": try again in " + decimal_seconds(verdict.retry_after);
  SessionRespond answer = error_response(exchange, protocol, error, verdict.retry_after);
  answer.headers.emplace_back("retry-after-ms",
                              std::to_string((verdict.retry_after.value + 999'999) / 1'000'000));
  for (auto& header : rate_headers(verdict, protocol, unix_seconds)) {
    answer.headers.push_back(std::move(header));
  }
  return answer;
}

}  // namespace troupe
