#include "runtime/http/url.hpp"

#include <algorithm>
#include <charconv>

#include "runtime/http/text.hpp"

namespace troupe::http {
namespace {

Error bad_url(std::string_view text, const char* why) {
  return {Code::kInvalid,
          "the address \"" + std::string(text) + "\" " + why + " (example: http://127.0.0.1:8000)"};
}

Result<std::uint16_t> parse_port(std::string_view text, std::string_view digits) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0 || port > 65535)
    return bad_url(text, "has a port that is not 1 to 65535");
  return static_cast<std::uint16_t>(port);
}

/// Splits "host:port", "[v6]:port", "host" into `url`.
Status parse_authority(std::string_view text, std::string_view authority, Url& url) {
  if (authority.find('@') != std::string_view::npos)
    return bad_url(text, "has a user name: credentials belong into a header");
  std::string_view host = authority;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return bad_url(text, "has no closing bracket");
    host = authority.substr(1, close - 1);
    rest = authority.substr(close + 1);
  } else if (const auto colon = authority.find(':'); colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    rest = authority.substr(colon);
  }
  if (host.empty()) return bad_url(text, "has no host");
  if (std::any_of(host.begin(), host.end(), [](unsigned char c) { return c <= 0x20 || c == 0x7f; }))
    return bad_url(text, "has a space or control character in the host");
  url.host = host;
  if (rest.empty()) return ok_status();
  if (rest[0] != ':') return bad_url(text, "has something else than a port after the host");
  TROUPE_TRY_ASSIGN(url.port, parse_port(text, rest.substr(1)));
  return ok_status();
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  if (iequals(text.substr(0, 8), "https://"))
    return Error{Code::kUnsupported,
                 "https is not supported: use the http:// address of the server, or a local proxy "
                 "that adds TLS"};
  if (!iequals(text.substr(0, kScheme.size()), kScheme))
    return bad_url(text, "must begin with http://");
  std::string_view rest = text.substr(kScheme.size());
  rest = rest.substr(0, rest.find('#'));
  const auto path = std::min(rest.find_first_of("/?"), rest.size());
  Url url;
  TROUPE_TRY(parse_authority(text, rest.substr(0, path), url));
  const auto target = rest.substr(path);
  if (std::any_of(target.begin(), target.end(),
                  [](unsigned char c) { return c <= 0x20 || c >= 0x7f; }))
    return bad_url(text, "has a character in the path that must be percent-encoded");
  if (target.starts_with('/')) url.target.clear();
  url.target.append(target);
  return url;
}

}  // namespace troupe::http
