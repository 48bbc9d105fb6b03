// From answers to bytes: the writing half of a server connection, without a socket.
//
// Protocol: start_exchange(), then respond(), or begin() write()* end(). The owner asks next() for
// the bytes to put on the socket and reports with wrote(n) how many it took.
//
// All that is queued when next() forms a flush leaves as one chunk in one write: a token that
// arrives while the socket is full costs no header of its own.
//
// Framing: respond() has a content-length. A stream is chunked for HTTP/1.1, and delimited by the
// end of the connection for HTTP/1.0. HEAD, 204 and 304 have no body: what is written then counts
// as written at once.
//
// Invariants: (1) bytes leave in the order of the calls; (2) payload_written() counts bytes of
// write() or of the body only, no framing, and never goes back; (3) complete() becomes true only
// when the end of the answer was taken by the socket.
// Threads: one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/http/types.hpp"

namespace troupe::http {

/// What the request says about its answer.
struct AnswerContext {
  bool http10 = false;
  bool head = false;       ///< HEAD: no body
  bool keep_alive = true;  ///< the connection goes on after the answer
  Headers fields = {};     ///< that every final answer to this request carries
};

class AnswerWriter {
 public:
  using Pieces = std::array<std::string_view, 3>;

  /// Requires: !begun() or complete().
  void start_exchange(const AnswerContext& context);

  /// The connection ends after this answer. Requires: !begun().
  void forbid_keep_alive();

  /// Requires, both: !begun().
  void respond(Response response);
  void begin(int status, const Headers& headers);

  /// Requires, both: begun() and !ended().
  void write(std::string_view bytes);
  void end();

  /// Adds bytes that a client which still listens ignores and that make the TCP stack of one that
  /// closed answer with a reset. Requires: can_probe().
  ///
  /// Before the answer: an interim `100 Continue`. Within a chunked stream: a zero in front of the
  /// size of the next chunk. HTTP/1.0 has neither.
  void probe();
  bool can_probe() const;
  void add_continue();

  /// The next bytes to write; all empty if there are none. Valid until the next call of any
  /// method but wrote().
  Pieces next();
  void wrote(std::size_t bytes);

  bool begun() const { return begun_; }
  int status() const { return status_; }  ///< 0: !begun()
  bool ended() const { return ended_; }
  bool complete() const { return ended_ && idle(); }
  /// A stream whose end only the close of the connection tells.
  bool until_close() const { return framing_ == Framing::kUntilClose; }
  bool idle() const { return flush_left() + prefix_next_.size() + next_size() == 0; }
  std::uint64_t payload_written() const { return payload_written_; }
  std::uint64_t outstanding() const { return payload_total_ - payload_written_; }
  const AnswerContext& context() const { return context_; }

 private:
  enum class Framing { kNone, kLength, kChunked, kUntilClose };

  void append_head(int status, const Headers& headers);
  std::size_t next_size() const { return body_next_.size() + tail_next_.size(); }
  std::size_t flush_left() const { return prefix_.size() + body_.size() + tail_.size() - offset_; }

  AnswerContext context_;
  Framing framing_ = Framing::kNone;
  int status_ = 0;
  bool begun_ = false;
  bool ended_ = false;
  std::uint64_t payload_total_ = 0;
  std::uint64_t payload_written_ = 0;
  // The flush that is on its way, and how much of it is out.
  std::string prefix_;
  std::string body_;
  std::string tail_;
  std::size_t offset_ = 0;
  // What the next flush will hold.
  std::string prefix_next_;
  std::string body_next_;
  std::string tail_next_;
};

}  // namespace troupe::http
