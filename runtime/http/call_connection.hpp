// One connection of a client: connects, sends a request, reads its answer, waits for the next.
// Internal.
//
//   kConnecting → kBusy ─ answer complete, keep-alive → kIdle (in the pool) → kBusy …
//   any ─ failed, cancelled, idle too long, closed by the server → kClosed
//
// Invariants: (1) call_ is set exactly in kConnecting and kBusy; (2) a call is finished (taken from
// call_) before its last callback runs, so that a callback may start or cancel anything.
// Threads: the loop's only. Ownership: the pool or the running call, and pending waits.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <vector>

#include "runtime/http/client.hpp"
#include "runtime/http/loop.hpp"
#include "runtime/http/response_reader.hpp"

namespace troupe::http {

class CallConnection;

/// A call and what is left of its time.
struct Call {
  CallId id;
  ClientRequest request;
  ClientCallbacks callbacks;
  Time connect_deadline;  ///< of the connection that is being made
  Time deadline;
  bool retried = false;
  std::shared_ptr<CallConnection> connection;
};

/// Who made the connection: the client's part of this loop (client.cpp).
class CallOwner {
 public:
  virtual ~CallOwner() = default;
  virtual Loop& loop() = 0;
  virtual std::array<char, 64 * 1024>& scratch() = 0;
  /// The call has ended; its last callback follows.
  virtual void on_finished(const std::shared_ptr<Call>& call) = 0;
  /// A reused connection was dead: the call needs a fresh one.
  virtual void on_stale(std::shared_ptr<Call> call) = 0;
  virtual void on_idle(std::shared_ptr<CallConnection> connection) = 0;
  virtual void on_idle_closed(CallConnection& connection) = 0;
};

class CallConnection : public std::enable_shared_from_this<CallConnection>,
                       private ResponseReader::Sink {
 public:
  CallConnection(CallOwner& owner, std::string pool_key);

  /// The first call: connects.
  void connect(std::shared_ptr<Call> call, std::vector<boost::asio::ip::tcp::endpoint> endpoints);
  /// A further call. Requires: the connection is idle.
  void reuse(std::shared_ptr<Call> call);
  /// Ends without callbacks.
  void close();
  /// Ends the call with this error.
  void fail(const Error& error);

  const std::string& pool_key() const { return pool_key_; }
  bool connecting() const { return state_ == State::kConnecting; }
  Time idle_since() const { return idle_since_; }

 private:
  enum class State { kConnecting, kBusy, kIdle, kClosed };

  void connect_next();
  void send_request();
  void flush();
  void wait_readable();
  void on_readable();
  void take_input(std::string_view bytes);
  void on_end_of_stream(bool orderly);
  void complete(bool spent);
  void on_head(int status, const Headers& headers) override;
  void on_body(std::string_view bytes) override;

  CallOwner& owner_;
  const std::string pool_key_;
  boost::asio::ip::tcp::socket socket_;
  State state_ = State::kConnecting;
  std::vector<boost::asio::ip::tcp::endpoint> endpoints_;  ///< still to be tried
  std::shared_ptr<Call> call_;
  ResponseReader reader_;
  std::string out_;
  std::size_t out_offset_ = 0;
  Time idle_since_;
  bool reused_ = false;
  bool reading_ = false;
  bool writing_ = false;
};

}  // namespace troupe::http
