// An asynchronous HTTP/1.1 client: for the load generator, `troupe chat`, and health checks.
//
// Thousands of calls run at once on one io thread. Connections are kept alive and reused, a bounded
// pool for each host and port.
//
// Protocol of one call: start() → on_headers? → on_data* → exactly one of on_end or on_error,
// unless it was cancelled. on_error may come at any point: a body that breaks off is an error.
// A reused connection that turns out to be closed before any byte of the answer came costs one
// silent retry on a fresh one (the server may close an idle connection at any time).
//
// Threads: start() and cancel() from any thread, also from callbacks. Callbacks run on an io thread
// and must not block. A cancel() from a callback takes effect at once; from another thread,
// callbacks that are under way may still arrive. The destructor (not from a callback) drops
// running calls without callbacks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"
#include "runtime/http/types.hpp"

namespace troupe::http {

/// One call, unique in the life of its client.
struct CallId : Strong<CallId, std::uint64_t> {
  using Strong::Strong;
};

struct ClientRequest {
  std::string host;
  std::uint16_t port = 80;
  std::string method = "GET";
  std::string path = "/";  ///< with the query
  Headers headers;
  std::string body;
  Duration connect_timeout = seconds(5);
  Duration total_timeout = seconds(600);  ///< from start() to the last byte
};

/// Any of them may be empty.
struct ClientCallbacks {
  std::function<void(int status, const Headers& headers)> on_headers;
  std::function<void(std::string_view bytes)> on_data;
  std::function<void()> on_end;
  std::function<void(const Error& error)> on_error;
};

struct ClientOptions {
  int threads = 1;
  std::size_t idle_connections_max = 1024;  ///< for each host and port, and thread
  Duration idle_timeout = seconds(60);      ///< below what servers grant (ours: 120 s)
};

class Client {
 public:
  explicit Client(const ClientOptions& options = {});
  ~Client();

  CallId start(ClientRequest request, ClientCallbacks callbacks);
  /// Ends a call without callbacks and closes its connection. Unknown ids are ignored.
  void cancel(CallId call);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe::http
