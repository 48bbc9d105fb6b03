// From bytes to requests: the reading half of a server connection, without a socket.
//
// Protocol: feed() bytes as they come; it stops at the edges that the owner must see:
//   kEmpty → kHead → (kBody →) kDone, or kRefused from anywhere.
// At kBody the head is known and checked and the body is still to come: the owner may answer
// early or send 100 Continue. At kDone take() the request and reset() for the next.
//
// Invariants: (1) the result does not depend on how the bytes were split; (2) no more than
// header_bytes_max + body_bytes_max + one line of chunk coding + a decoder's window is held;
// (3) a chunked or compressed body is decoded and counted as it comes, against body_bytes_max and
// the budget of all bodies; (4) after kRefused nothing more is read.
// Threads: one at a time. The head is checked by head_check.hpp, then parsed by Beast; what a body
// may cost is in body_collector.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/http/byte_budget.hpp"
#include "runtime/http/refusal.hpp"
#include "runtime/http/types.hpp"

namespace troupe::http {

class RequestReader {
 public:
  enum class Stage { kEmpty, kHead, kBody, kDone, kRefused };

  /// `bodies` outlives the reader and its leases.
  RequestReader(std::size_t header_bytes_max, std::size_t body_bytes_max, ByteBudget& bodies);
  ~RequestReader();

  /// Returns how many bytes were taken. It takes none at kDone and kRefused, and returns early
  /// when the stage becomes kBody: call again with the rest.
  std::size_t feed(std::string_view bytes);

  Stage stage() const;
  /// Requires: stage() == kRefused.
  const Refusal& refusal() const;
  /// The head of the request, as far as it was understood; null: not yet.
  const Request* head_or_null() const;
  /// Its head; the body comes with take(). Requires: stage() is kBody or kDone.
  const Request& request() const;
  /// The body is decoded, and no content-encoding is among the headers. Requires: stage() == kDone.
  Request take();
  /// What the body costs the budget, to be held as long as the body is. Requires: stage() == kDone.
  ByteLease take_lease();

  /// A compressed body: at most so many bytes are decoded until the next call (body_collector.hpp).
  /// Until the first one nothing bounds it.
  void begin_turn(std::size_t decoded_max);
  /// Bytes that were taken are not decoded yet: the stage stays at kBody and feed() takes no more,
  /// until go_on() has caught up.
  bool is_behind() const;
  void go_on();
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
