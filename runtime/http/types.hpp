// The values that cross the border between HTTP and the rest: requests, answers, session ids.
//
// Header names are lower-case everywhere (HTTP/1.1 names are case-insensitive; one spelling makes
// look-ups plain comparisons). A path is kept as it was sent, percent-escapes included, because
// `a%2Fb` and `a/b` may name different things (url.hpp decodes).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/strong.hpp"
#include "runtime/base/trace_context.hpp"

namespace troupe::http {

/// One exchange (a request and its answer), unique in the life of the process. A keep-alive
/// connection has a new one for each request.
struct SessionId : Strong<SessionId, std::uint64_t> {
  using Strong::Strong;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;  ///< as sent: "GET", "POST"
  std::string path;    ///< before '?', not decoded; "*" for OPTIONS *
  std::string query;   ///< after '?', not decoded; empty without one
  Headers headers;     ///< names in lower case, values trimmed
  std::string body;    ///< chunked coding removed
  std::string peer;    ///< "127.0.0.1:54321"
  TraceContext trace;  ///< of the answer to come; none if the server traces nothing
  /// What the body costs the server's budget: whoever keeps the body keeps this, and both go
  /// together. Null: there is no body.
  std::shared_ptr<const void> hold;
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
};

/// The first value of a header, empty if there is none. Requires: the name is in lower case.
std::string_view find_header(const Headers& headers, std::string_view name);

/// The usual reason phrase ("Not Found"); "Unknown" for a status without one.
std::string_view reason_phrase(int status);

}  // namespace troupe::http
