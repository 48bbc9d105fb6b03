// How bytes reach a Beast parser that may want to see some of them again. Internal.
//
// Beast's incremental `put` leaves bytes unconsumed when it needs more (a chunk-size line cut in
// two). They are carried to the next call. Invariant: after a call the parser is done, has failed,
// or all input was taken (consumed or carried); the carry is at most `kCarryBytesMax`.
#pragma once

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <string>
#include <string_view>

namespace troupe::http {

/// A chunk-size line with extensions, all trailers, or the header of an answer must fit.
constexpr std::size_t kCarryBytesMax = 64 * 1024;

/// Puts `bytes` into the parser; returns how many of them belong to this message. `error` is empty
/// when the message goes on or is done.
template <class Parser>
std::size_t feed_parser(Parser& parser, std::string& carry, std::string_view bytes,
                        boost::beast::error_code& error) {
  const std::size_t carried = carry.size();
  if (carried > 0) carry.append(bytes);
  const std::string_view input = carried > 0 ? std::string_view(carry) : bytes;
  std::size_t used = 0;
  error = {};
  while (used < input.size() && !parser.is_done()) {
    used += parser.put(boost::asio::const_buffer(input.data() + used, input.size() - used), error);
    if (error) break;
  }
  if (parser.is_done()) {
    // What was carried had no end of message in it, so the end lies in the new bytes.
    carry.clear();
    error = {};
    return used - carried;
  }
  if (error && error != boost::beast::http::error::need_more) return bytes.size();
  error = {};
  if (input.size() - used > kCarryBytesMax) {
    error = boost::beast::http::error::bad_chunk;
    return bytes.size();
  }
  if (carried > 0) {
    carry.erase(0, used);
  } else {
    carry.assign(input.substr(used));
  }
  return bytes.size();
}

}  // namespace troupe::http
