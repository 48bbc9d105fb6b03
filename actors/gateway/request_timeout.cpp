#include "actors/gateway/request_timeout.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

namespace troupe {

namespace {

constexpr const char* kHeader = "x-request-timeout-ms";

Error not_a_time(std::string_view found) {
  return {Code::kInvalid, std::string(kHeader) +
                              ": expected a whole number of milliseconds, at least 1, and only once"
                              "; found '" +
                              std::string(found.substr(0, 40)) + "'"};
}

}  // namespace

Result<Duration> request_timeout(const HeaderList& headers, Duration limit) {
  const auto named = [](const auto& header) { return header.first == kHeader; };
  const auto at = std::find_if(headers.begin(), headers.end(), named);
  if (at == headers.end()) return limit;
  const std::string& text = at->second;
  std::uint64_t asked = 0;
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, asked);
  // More digits than a number has room for are digits all the same: a long time.
  if (problem == std::errc::result_out_of_range) asked = std::numeric_limits<std::uint64_t>::max();
  const bool number = problem == std::errc() || problem == std::errc::result_out_of_range;
  const bool again = std::any_of(at + 1, headers.end(), named);
  if (!number || end != last || asked == 0 || again) return not_a_time(text);
  const std::uint64_t limit_ms = static_cast<std::uint64_t>(limit.value) / 1'000'000;
  if (asked >= limit_ms) return limit;
  return milliseconds(static_cast<std::int64_t>(asked));
}

}  // namespace troupe
