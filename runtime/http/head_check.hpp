// The strict reading of a request head, before a parser sees it. Pure.
//
// Why: request smuggling lives on heads that two programs read differently. A tolerant parser in
// front of a strict one lets a second request hide in the first. So whatever RFC 9112 allows a
// server to refuse is refused here, and the connection is closed:
//
//   1. lines end in CRLF; no bare LF or CR, no NUL or other control byte but tab in a value
//   2. no obs-fold (a continued line), no space before the colon, names are tokens
//   3. one Content-Length of digits only, or one `Transfer-Encoding: chunked`, never both;
//      no Transfer-Encoding in HTTP/1.0
//   4. HTTP/1.1 has exactly one Host
//   5. version 1.0 or 1.1, request line within `kRequestLineBytesMax`, at most `kFieldsMax` fields
//
// It also refuses what the server does not do: CONNECT and TRACE (405), content codings that
// body_decoder.hpp does not know, or more than one (415), expectations other than 100-continue
// (417), a content type without a length (411).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "runtime/http/refusal.hpp"

namespace troupe::http {

/// RFC 9112 section 3 asks for at least 8000 octets.
constexpr std::size_t kRequestLineBytesMax = 8 * 1024;
constexpr std::size_t kFieldsMax = 128;

/// `head` is the request line and the fields, with the empty line that ends them.
std::optional<Refusal> check_head(std::string_view head);

/// Refuses as soon as bytes arrive that cannot begin a head (a TLS hello, a bare LF), so that such
/// a client does not wait for the deadline. `from`: how many bytes were checked before.
std::optional<Refusal> check_head_prefix(std::string_view bytes, std::size_t from);

}  // namespace troupe::http
