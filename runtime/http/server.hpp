// An HTTP/1.1 server whose sessions are foreign actors: it hands out requests and takes answers.
//
// Protocol of one exchange (all answers name its SessionId, from any thread):
//   server → handler   on_request, then on_drained*, and at most one on_gone
//   caller → server    respond, or begin_stream write* end, or cut
// An exchange ends in exactly one way: its answer is out (a last on_drained), on_gone, or cut by
// the caller. Calls that name an ended or unknown exchange do nothing: that race is normal.
//
// Invariants
//   1. A connection has one exchange at a time. A pipelined request waits for the end of the
//      previous answer.
//   2. on_gone comes exactly once for an exchange that was handed out and whose answer could not
//      be completed for a reason of ours or the client's (closed, no progress, cap, shutdown);
//      nothing follows it. After cut() by the caller nothing follows either.
//   3. on_drained reports bytes of write() (or of the body) that the kernel took, without framing.
//      After end() or respond() one last call says that the end of the answer was taken too.
//   4. Unsent bytes of a stream never exceed `outstanding_bytes_max`: the session is cut and
//      on_gone called. Slowing the producer down before that is the caller's business. respond()
//      is exempt: its body exists already, and write_timeout bounds its life.
//   5. Every phase has a deadline, except that a handed-out request waits for its caller.
//
// A client that left. A read is always pending, so a reset is seen at once. An end of stream (FIN)
// says only that the client sends no more: it may have closed, or half-closed and still read
// (`nc -N`, shell scripts). The server then sends something that every client ignores: an interim
// `100 Continue` before the answer, a leading zero of the next chunk size within a stream. The
// kernel of a client that closed answers with a reset, within a round trip, and on_gone follows; a
// half-closed one gets its answer. The probe is repeated after 1 s and 3 s, for proxies that pass
// the FIN on and close late. HTTP/1.0 has nothing that its clients ignore: there a client that
// closed is noticed by its reset of the first bytes of the answer, since one that half-closed must
// get all of it. A client that pipelined more than header_bytes_max bytes ahead is watched for
// resets only.
//
// TLS: the same, with its handshake before the first request, within header_timeout.
//
// Threads: sockets are spread over the io threads by one acceptor; a request touches no lock that
// threads share. Callbacks run on the server's io threads, those of one session in order on one
// thread; they must not block. All methods may be called from any thread, also from callbacks, but
// shutdown() and the destructor not from a callback. The handler outlives the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/base/time.hpp"
#include "runtime/http/cors.hpp"
#include "runtime/http/ended.hpp"
#include "runtime/http/refusal.hpp"
#include "runtime/http/tls_context.hpp"
#include "runtime/http/types.hpp"

namespace troupe::http {

class Handler {
 public:
  virtual ~Handler() = default;
  /// The head of a request whose body is still to come (`request.body` is empty). An answer here
  /// ends the request: credentials and routes can be refused before 32 MiB are read.
  virtual std::optional<Response> on_headers(const Request&) { return std::nullopt; }
  /// The server refuses this request (its body is too large, broken or late). An answer here takes
  /// the place of the refusal's own shape; status and headers should stay.
  virtual std::optional<Response> on_refused(const Request&, const Refusal&) {
    return std::nullopt;
  }
  virtual void on_request(SessionId session, Request request) = 0;
  virtual void on_drained(SessionId session, std::size_t bytes_written_total) = 0;
  virtual void on_gone(SessionId session) = 0;
  /// The last word about a request: once for each that was handed out, refused, or broken off
  /// after its head; before on_gone.
  virtual void on_ended(const Ended&) {}
};

struct Limits {
  std::size_t header_bytes_max = 64 * 1024;
  std::size_t body_bytes_max = 32 * 1024 * 1024;  ///< decoded, where it was compressed
  /// All bodies together, as long as somebody keeps them (Request::hold); beyond: 503.
  std::size_t bodies_bytes_max = 1024 * 1024 * 1024;
  std::size_t connections_max = 4096;     ///< beyond: 503 with retry-after, then closed
  Duration header_timeout = seconds(10);  ///< from the first byte (the first request: accept)
  Duration body_timeout = seconds(60);    ///< from the end of the header
  Duration idle_timeout = seconds(75);    ///< between requests: above the pools of clients
  Duration write_timeout = seconds(30);   ///< without progress, then on_gone
  Duration linger_timeout = seconds(2);   ///< reading on after a final answer
  std::size_t outstanding_bytes_max = 1024 * 1024;
  /// The kernel's share of a slow reader's backlog, a connection (Linux doubles it for its own
  /// use). Without it the kernel grows to megabytes before back-pressure is felt.
  std::size_t send_buffer_bytes = 128 * 1024;
};

struct ServerOptions {
  ServerOptions(const Limits& l = {}, int n = 1) : limits(l), threads(n) {}

  Limits limits;
  int threads = 1;  ///< that accept, read and write: 1 to 64
  CorsPolicy cors;
  std::shared_ptr<const TlsContext> tls;  ///< null: plain HTTP
  /// Not 0: each request gets a span in its caller's trace or in a new one, which its answer tells
  /// (`traceparent`); drawn from this seed. 0: traces are left alone.
  std::uint64_t trace_seed = 0;
};

struct Stats {
  std::uint64_t connections_open = 0;
  std::uint64_t connections_total = 0;
  std::uint64_t connections_rejected = 0;  ///< over connections_max
  std::uint64_t requests_total = 0;        ///< handed out
  std::uint64_t requests_refused = 0;      ///< answered by the server itself
  std::uint64_t exchanges_open = 0;
  std::uint64_t gone_total = 0;
  std::uint64_t body_bytes_held = 0;  ///< of open requests, as counted against bodies_bytes_max
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
};

class Server {
 public:
  /// Takes the port, so that a used one is refused before anything costly is made. Nobody can
  /// connect yet. `host` is an address or a name; port 0 takes any. The error says what to do.
  static Result<std::unique_ptr<Server>> bind(const std::string& host, std::uint16_t port,
                                              ServerOptions options);
  /// Listens and starts the io threads: the handler may be called before this returns, so it knows
  /// the server already. An error: somebody else listened first. Requires: once.
  Status start(Handler& handler);
  /// bind() and start() for a handler that can wait for its server.
  static Result<std::unique_ptr<Server>> listen(const std::string& host, std::uint16_t port,
                                                ServerOptions options, Handler& handler);
  ~Server();  ///< shutdown() at once

  std::uint16_t port() const;

  /// A complete answer, with content-length.
  void respond(SessionId session, Response response);
  /// Begins a chunked answer (HTTP/1.0: delimited by close).
  void begin_stream(SessionId session, int status, Headers headers);
  void write(SessionId session, std::string bytes);
  /// The last chunk.
  void end(SessionId session);
  /// Ends the connection without a last chunk, so that the client sees an error. What was written
  /// before is still offered to the kernel once.
  void cut(SessionId session);

  /// Each answer from now on closes its connection, so that clients move on to another server;
  /// what still comes is served (health checks must see a node that drains).
  void wind_down();
  /// Connections that come from now on get this certificate; running ones keep theirs.
  /// Requires: it was started with TLS.
  void renew_tls(std::shared_ptr<const TlsContext> tls);
  /// wind_down(). Closes the listening socket and idle connections.
  void stop_accepting();
  /// stop_accepting(), waits for running exchanges, ends the rest with on_gone, joins the threads.
  /// Returns within the deadline, and then no callback runs any more.
  void shutdown(Duration deadline);

  Stats stats() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe::http
