#include "runtime/http/head_check.hpp"

#include <algorithm>
#include <string>

#include "runtime/http/body_decoder.hpp"
#include "runtime/http/text.hpp"

namespace troupe::http {
namespace {

using Verdict = std::optional<Refusal>;

/// What the fields said, as far as rules span several of them.
struct Seen {
  bool http11 = true;
  bool expects_body = false;  ///< POST, PUT or PATCH
  std::size_t fields = 0;
  std::size_t hosts = 0;
  std::size_t lengths = 0;
  std::size_t encodings = 0;
  std::size_t content_encodings = 0;
  bool content_type = false;
};

Verdict bad(const char* message) {
  return Refusal{400, "bad_request", message};
}

Verdict check_target(std::string_view target) {
  if (target.empty()) return bad("the request line has no target");
  for (const char c : target) {
    if (c <= 0x20 || c == 0x7f || c == '#') return bad("the request target has a forbidden byte");
  }
  const bool absolute = target.starts_with("http://") || target.starts_with("https://");
  if (target[0] != '/' && target != "*" && !absolute)
    return bad("the request target must begin with a slash");
  return std::nullopt;
}

Verdict check_version(std::string_view version, Seen& seen) {
  if (version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(version[5]) ||
      version[6] != '.' || !is_digit(version[7]))
    return bad("the request line must end in HTTP/1.0 or HTTP/1.1");
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return Refusal{505, "http_version_not_supported", "this server speaks HTTP/1.0 and HTTP/1.1"};
  seen.http11 = version == "HTTP/1.1";
  return std::nullopt;
}

Verdict check_request_line(std::string_view line, Seen& seen) {
  if (line.size() > kRequestLineBytesMax)
    return Refusal{414, "uri_too_long", "the request line is longer than 8 KiB"};
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    return bad("the request line must be: method, target, version");
  const auto method = line.substr(0, first);
  if (!is_token(method)) return bad("the method is not a token");
  if (auto verdict = check_version(line.substr(last + 1), seen)) return verdict;
  if (method == "CONNECT" || method == "TRACE")
    return Refusal{405,
                   "method_not_allowed",
                   "this server does not do CONNECT or TRACE",
                   {{"allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"}}};
  seen.expects_body = method == "POST" || method == "PUT" || method == "PATCH";
  return check_target(line.substr(first + 1, last - first - 1));
}

Verdict check_framing_field(std::string_view name, std::string_view value, Seen& seen) {
  if (iequals(name, "content-length")) {
    ++seen.lengths;
    // 18 digits cannot overflow 64 bits; what does not fit is over every limit anyway.
    if (value.empty() || value.size() > 18 || !std::all_of(value.begin(), value.end(), is_digit))
      return bad("Content-Length must be one decimal number");
  } else if (iequals(name, "transfer-encoding")) {
    ++seen.encodings;
    if (!iequals(value, "chunked")) return bad("the only Transfer-Encoding is chunked");
  }
  if (seen.lengths > 1) return bad("there is more than one Content-Length");
  if (seen.encodings > 1) return bad("there is more than one Transfer-Encoding");
  if (seen.lengths + seen.encodings > 1)
    return bad("Content-Length and Transfer-Encoding exclude each other");
  return std::nullopt;
}

Verdict check_content_encoding(std::string_view value, Seen& seen) {
  const bool known = iequals(value, "identity") || BodyDecoder::supports(value);
  if (known && ++seen.content_encodings == 1) return std::nullopt;
  return Refusal{415,
                 "unsupported_content_encoding",
                 "a request body may have one Content-Encoding: gzip, deflate or zstd",
                 {{"accept-encoding", BodyDecoder::kCodings}}};
}

Verdict check_known_field(std::string_view name, std::string_view value, Seen& seen) {
  if (iequals(name, "host")) {
    ++seen.hosts;
  } else if (iequals(name, "content-type")) {
    seen.content_type = true;
  } else if (iequals(name, "content-encoding")) {
    return check_content_encoding(value, seen);
  } else if (iequals(name, "expect") && !iequals(value, "100-continue")) {
    return Refusal{417, "expectation_failed", "the only expectation is 100-continue"};
  }
  return check_framing_field(name, value, seen);
}

Verdict check_field(std::string_view line, Seen& seen) {
  if (++seen.fields > kFieldsMax)
    return Refusal{431, "too_many_headers", "there are more than 128 header fields"};
  if (line[0] == ' ' || line[0] == '\t') return bad("a header field is continued on a second line");
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return bad("a header field has no colon");
  if (!is_token(line.substr(0, colon))) return bad("a header name is not a token");
  const auto value = trim(line.substr(colon + 1));
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f)
      return bad("a header value has a control character");
  }
  return check_known_field(line.substr(0, colon), value, seen);
}

Verdict check_whole(const Seen& seen) {
  if (seen.hosts > 1) return bad("there is more than one Host");
  if (seen.http11 && seen.hosts == 0) return bad("HTTP/1.1 needs a Host field");
  if (!seen.http11 && seen.encodings > 0) return bad("HTTP/1.0 has no Transfer-Encoding");
  // A POST without content type and length has no body (`curl -X POST`); one that announces a type
  // meant to send something.
  if (seen.expects_body && seen.content_type && seen.lengths + seen.encodings == 0)
    return Refusal{411, "length_required", "send Content-Length or Transfer-Encoding: chunked"};
  return std::nullopt;
}

}  // namespace

Verdict check_head(std::string_view head) {
  Seen seen;
  bool first = true;
  while (true) {
    const auto end = head.find("\r\n");
    if (end == std::string_view::npos) return bad("a header line does not end in CR LF");
    const auto line = head.substr(0, end);
    if (line.empty() && !first) return check_whole(seen);
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos)
      return bad("the head has a bare CR, bare LF or NUL");
    auto verdict = first ? check_request_line(line, seen) : check_field(line, seen);
    if (verdict) return verdict;
    first = false;
    head.remove_prefix(end + 2);
  }
}

Verdict check_head_prefix(std::string_view bytes, std::size_t from) {
  if (from == 0 && !bytes.empty() && !is_token(bytes.substr(0, 1)))
    return bad("this port speaks plain HTTP (no TLS), and this is not a request");
  for (auto at = bytes.find('\n', from); at != std::string_view::npos;
       at = bytes.find('\n', at + 1)) {
    if (at == 0 || bytes[at - 1] != '\r') return bad("a header line ends in a bare LF");
  }
  return std::nullopt;
}

}  // namespace troupe::http
