// From bytes to requests: the reading half of a server connection, without a socket.
//
// Protocol: feed() bytes as they come; it stops at the edges that the owner must see:
//   kEmpty → kHead → (kBody →) kDone, or kRefused from anywhere.
// At kBody the head is known and checked and the body is still to come: the owner may answer
// early or send 100 Continue. At kDone take() the request and reset() for the next.
//
// Invariants: (1) the result does not depend on how the bytes were split; (2) no more than
// header_bytes_max + body_bytes_max + one line of chunk coding is held; (3) a chunked body is
// counted as it comes; (4) after kRefused nothing more is read.
// Threads: one at a time. The head is checked by head_check.hpp, then parsed by Beast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/http/refusal.hpp"
#include "runtime/http/types.hpp"

namespace troupe::http {

class RequestReader {
 public:
  enum class Stage { kEmpty, kHead, kBody, kDone, kRefused };

  RequestReader(std::size_t header_bytes_max, std::size_t body_bytes_max);
  ~RequestReader();

  /// Returns how many bytes were taken. It takes none at kDone and kRefused, and returns early
  /// when the stage becomes kBody: call again with the rest.
  std::size_t feed(std::string_view bytes);

  Stage stage() const;
  /// Requires: stage() == kRefused.
  const Refusal& refusal() const;
  /// Requires: stage() is kBody or kDone. The body is complete at kDone.
  const Request& request() const;
  /// Requires: stage() == kDone.
  Request take();
  void reset();

  /// Requires, all three: stage() is kBody or kDone.
  bool http10() const;
  bool keep_alive() const;
  bool wants_continue() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe::http
