#include "runtime/http/cors.hpp"

#include <algorithm>

#include "runtime/http/text.hpp"

namespace troupe::http {
namespace {

/// What scripts may read beside the headers that the Fetch standard always shows them: what SDKs
/// use to retry and to report.
constexpr const char* kExposed =
    "retry-after, retry-after-ms, x-request-id, request-id, x-should-retry, "
    "x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, "
    "anthropic-ratelimit-requests-limit, anthropic-ratelimit-requests-remaining, "
    "anthropic-ratelimit-requests-reset";
/// Two hours, the longest that Chromium keeps a preflight.
constexpr const char* kMaxAge = "7200";
constexpr const char* kMethods = "GET, HEAD, POST, DELETE, OPTIONS";

bool any_origin(const CorsPolicy& policy) {
  return policy.origins.size() == 1 && policy.origins[0] == "*";
}

bool is_origin(std::string_view text) {
  const auto scheme = text.find("://");
  if (scheme == std::string_view::npos || !is_token(text.substr(0, scheme))) return false;
  const auto host = text.substr(scheme + 3);
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return is_digit(c) || (is_alpha(c) && c == to_lower(c)) ||
           std::string_view("-._:[]").find(c) != std::string_view::npos;
  });
}

}  // namespace

bool CorsPolicy::allows(std::string_view origin) const {
  return any_origin(*this) || std::find(origins.begin(), origins.end(), origin) != origins.end();
}

Status check_origins(const std::vector<std::string>& origins) {
  if (origins.size() == 1 && origins[0] == "*") return ok_status();
  for (const auto& origin : origins) {
    if (!is_origin(origin))
      return Error{Code::kInvalid,
                   "expected origins such as https://app.example or http://"
                   "localhost:3000 (no path, lower case), or * alone; found '" +
                       origin.substr(0, 200) + "'"};
  }
  return ok_status();
}

Headers cors_headers(const CorsPolicy& policy, const Headers& request) {
  if (policy.off()) return {};
  const bool any = any_origin(policy);
  const auto origin = find_header(request, "origin");
  Headers headers;
  if (!any) headers.emplace_back("vary", "origin");
  if (origin.empty() || !policy.allows(origin)) return headers;
  headers.emplace_back("access-control-allow-origin", any ? "*" : std::string(origin));
  headers.emplace_back("access-control-expose-headers", kExposed);
  return headers;
}

std::optional<Response> preflight_answer(const CorsPolicy& policy, const Request& request) {
  const auto origin = find_header(request.headers, "origin");
  const bool asks = request.method == "OPTIONS" && !origin.empty() &&
                    !find_header(request.headers, "access-control-request-method").empty();
  if (policy.off() || !asks) return std::nullopt;
  Response response{204, {}, ""};
  if (!policy.allows(origin)) return response;
  response.headers.emplace_back("access-control-allow-methods", kMethods);
  // Clients send headers of their own (x-stainless-*, anthropic-beta): what is asked is allowed.
  const auto asked = find_header(request.headers, "access-control-request-headers");
  if (!asked.empty()) response.headers.emplace_back("access-control-allow-headers", asked);
  response.headers.emplace_back("access-control-max-age", kMaxAge);
  return response;
}

}  // namespace troupe::http
