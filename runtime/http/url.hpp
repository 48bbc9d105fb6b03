// Addresses of servers, as users type them. Pure.
//
// Only http: encryption belongs to a proxy in front of a server (docs), and a clear refusal beats a
// connection that fails later.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace troupe::http {

struct Url {
  std::string host;  ///< without the brackets of an IPv6 address
  std::uint16_t port = 80;
  std::string target = "/";  ///< path and query, as sent to the server
};

/// "http://host[:port][/path][?query]"; a fragment is dropped.
Result<Url> parse_url(std::string_view text);

}  // namespace troupe::http
