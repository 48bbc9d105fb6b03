// Which web pages may use this server from a browser: the CORS protocol of the Fetch standard.
// Pure.
//
// Off by default: without origins no answer carries a CORS header, and browsers keep other pages
// out. With them every answer to an allowed origin does, errors too (a page could not read a 401 or
// 429 otherwise), and preflights are answered without credentials: they cannot carry any.
//
// Credentials mode (cookies) is never allowed: keys travel in headers that the page sets itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/http/types.hpp"

namespace troupe::http {

struct CorsPolicy {
  /// "https://app.example", or "*" alone for all pages. Empty: off.
  std::vector<std::string> origins;

  bool off() const { return origins.empty(); }
  bool allows(std::string_view origin) const;
};

/// An origin is scheme://host[:port] in lower case without a path; "*" stands alone. The error says
/// which one is wrong.
Status check_origins(const std::vector<std::string>& origins);

/// What each answer to this request carries. Empty if the request has no origin or it is not
/// allowed (then with `vary`, so that caches keep the answers apart).
Headers cors_headers(const CorsPolicy& policy, const Headers& request);

/// The answer to a preflight (OPTIONS with origin and access-control-request-method), allowed or
/// not, without cors_headers(), which the server adds; nothing for any other request.
std::optional<Response> preflight_answer(const CorsPolicy& policy, const Request& request);

}  // namespace troupe::http
