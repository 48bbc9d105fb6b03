// One accepted socket: reads requests, hands them out, writes their answers. Internal.
//
//   kIdle ─ bytes → kHead ─ head → kBody ─ body → kExchange ─ answer out → kIdle
//     any of the first three ─ refused → kClosing ─ answer out → kLinger → kClosed
//     kExchange ─ answer out, no keep-alive → kLinger; lost → kClosed with on_gone
//
// kLinger: our side is shut, what the client still sends is read and dropped for a while. Closing
// at once would make the kernel answer late bytes with a reset, which can destroy the final answer
// before the client reads it.
//
// I/O is non-blocking reads and writes by ourselves; Asio only says when a socket is ready. So an
// idle connection owns no buffer, and an answer leaves in the turn that it was made in.
//
// Under TLS the handshake is part of reading, so that kIdle covers it: the deadline of the first
// head bounds it too.
//
// Invariants: (1) at most one wait for reading and one for writing is pending; (2) shard_ knows the
// exchange exactly while phase_ is kExchange; (3) callbacks cannot re-enter: what they call on the
// server goes through the inbox.
// Threads: the shard's loop only. Ownership: the shard and pending waits share it.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/http/answer_writer.hpp"
#include "runtime/http/request_reader.hpp"
#include "runtime/http/shard.hpp"
#include "runtime/http/transport.hpp"

namespace troupe::http {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shard& shard, boost::asio::ip::tcp::socket socket);

  void start();
  void start_refused(const Refusal& refusal);

  // Answers to the running exchange; the shard checked that it runs. A call that does not fit the
  // state of the answer (a second respond) is a caller's race and does nothing.
  void respond(Response response);
  void begin_stream(int status, const Headers& headers);
  void write(std::string_view bytes);
  void end();
  void cut();
  void cut_over_cap();

  void flush();
  /// Something may be due (deadline_heap.hpp).
  void on_due(Time now);
  void drain();
  void force_close();

 private:
  enum class Phase { kIdle, kHead, kBody, kExchange, kClosing, kLinger, kClosed };

  // connection_read.cpp
  void wait_readable();
  void wait_reset();
  void on_readable();
  /// False: there is nothing more to read now, or nobody to read for.
  bool read_once();
  /// Gives the loop's other connections their turn first.
  void decode_later();
  void decode_on();
  void on_end_of_stream();
  void parse(std::string_view bytes);
  void on_stage();
  void enter_body();
  void hand_out();
  void refuse(const Refusal& refusal);
  /// What every answer to this request carries; its trace begins here.
  Headers answer_fields(const Request& head);
  /// `code`: of a refusal.
  void answer_and_close(Response response, std::string_view code = {});
  AnswerContext answer_context();

  // connection.cpp
  void flush_later();
  void wait_writable();
  bool write_out();
  void after_write(std::uint64_t payload_before);
  void finish_exchange();
  void act_on(Time now);
  void probe_if_due(Time now);
  /// Sets one of the deadlines below.
  void arm(Time& deadline, Time at);
  void begin_linger();
  /// Tells the handler how the exchange ended.
  void report(Ended::How how);
  void abort_answer();
  void lose();
  void close(bool reset = false);
  bool reads_requests() const { return phase_ <= Phase::kBody; }

  static constexpr Time kNever{INT64_MAX};

  Shard& shard_;
  const Limits& limits_;
  Transport transport_;
  Phase phase_ = Phase::kIdle;
  RequestReader reader_;
  AnswerWriter writer_;
  SessionId session_;
  Time began_;                    ///< the first byte of the request
  TraceContext trace_;            ///< of the request, from its head on
  std::string pipelined_;         ///< bytes of later requests
  Time deadline_ = kNever;        ///< of the phase
  Time write_deadline_ = kNever;  ///< while the socket takes nothing
  Time probe_at_ = kNever;        ///< after the client's end of stream
  Time queued_at_ = kNever;       ///< of the earliest entry in the shard's heap
  int probes_ = 0;
  bool first_request_ = true;
  bool refused_ = false;  ///< over connections_max
  bool reading_ = false;
  bool decoding_ = false;  ///< decode_on() is to come
  bool writing_ = false;
  bool watching_reset_ = false;
  bool dirty_ = false;
  bool peer_closed_ = false;  ///< the client's side is shut
};

}  // namespace troupe::http
