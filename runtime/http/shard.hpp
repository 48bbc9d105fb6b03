// The part of a server that lives on one loop: its connections and its exchanges. Internal.
//
// A SessionId names its shard (id % kShardsMax), so an answer from any thread finds its loop
// without a shared table. Exchanges are looked up by id on the loop; an id that is not there has
// ended, and the call is dropped.
//
// Threads: everything but `loop.submit` on the loop's thread. ServerShared is common to all shards.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/base/rng.hpp"
#include "runtime/http/byte_budget.hpp"
#include "runtime/http/deadline_heap.hpp"
#include "runtime/http/loop.hpp"
#include "runtime/http/server.hpp"

namespace troupe::http {

class Connection;

/// A count that one thread changes and any reads.
class Counter {
 public:
  void add(std::uint64_t n) { set(value() + n); }
  void subtract(std::uint64_t n) { set(value() - n); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::atomic<std::uint64_t> value_{0};
};

/// What changes with each request, a shard: io threads share no cache line for it.
struct alignas(64) ShardCounters {
  Counter requests;
  Counter refused;
  Counter exchanges_open;
  Counter gone;
  Counter bytes_received;
  Counter bytes_sent;
};

struct ServerShared {
  explicit ServerShared(ServerOptions options)
      : limits(options.limits),
        cors(std::move(options.cors)),
        trace_seed(options.trace_seed),
        bodies(std::make_shared<ByteBudget>(options.limits.bodies_bytes_max)),
        tls_(std::move(options.tls)) {}

  const Limits limits;
  const CorsPolicy cors;
  const std::uint64_t trace_seed;
  const std::shared_ptr<ByteBudget> bodies;  ///< of all requests that are kept
  Handler* handler = nullptr;                ///< set before the loops start
  std::atomic<bool> winding_down{false};     ///< each answer closes its connection
  std::atomic<bool> draining{false};         ///< nothing is accepted any more
  std::mutex mutex;                          ///< with `all_closed`, for shutdown()
  std::condition_variable all_closed;

  std::atomic<std::uint64_t> connections_open{0};
  std::atomic<std::uint64_t> connections_refusing{0};  ///< of the open ones: being told 503
  std::atomic<std::uint64_t> connections_total{0};
  std::atomic<std::uint64_t> connections_rejected{0};

  /// For a new connection; null: plain.
  std::shared_ptr<const TlsContext> current_tls() {
    const std::lock_guard lock(tls_mutex_);
    return tls_;
  }
  void set_tls(std::shared_ptr<const TlsContext> tls) {
    const std::lock_guard lock(tls_mutex_);
    tls_ = std::move(tls);
  }

 private:
  std::mutex tls_mutex_;
  std::shared_ptr<const TlsContext> tls_;
};

class Shard {
 public:
  static constexpr std::uint64_t kShardsMax = 64;
  /// Connections over the limit that are told so at one time; more are closed unheard. With
  /// several shards both limits may be passed by as many.
  static constexpr std::uint64_t kRefusingMax = 256;

  Shard(ServerShared& shared, std::uint64_t index);
  ~Shard();

  void start();
  /// Takes an accepted socket of this loop's context.
  void adopt(boost::asio::ip::tcp::socket socket);
  /// No new exchanges on old connections; idle ones are closed.
  void drain();
  /// Ends every connection, with on_gone where an exchange runs.
  void close_all();

  /// The connection that runs this exchange, or null.
  std::shared_ptr<Connection> find(SessionId session) const;

  // What connections need.
  SessionId open_exchange(Connection& connection);
  void close_exchange(SessionId session);
  void mark_dirty(Connection& connection);
  void remove(Connection& connection, bool refused);
  /// connection.on_due() at or after `at`.
  void queue_deadline(Connection& connection, Time at);
  ServerShared& shared() { return shared_; }
  ShardCounters& counters() { return counters_; }
  const ShardCounters& counters() const { return counters_; }
  /// A new span in the trace that this request names, or in one of its own. None: nothing is
  /// traced.
  TraceContext trace_of(const Request& head);
  /// Where a readable socket is read to; its content does not outlive the event.
  std::array<char, 64 * 1024>& scratch() { return scratch_; }

  Loop loop;

 private:
  std::vector<std::shared_ptr<Connection>> all() const;
  std::uint64_t next_exchange_number();

  ServerShared& shared_;
  const std::uint64_t index_;
  ShardCounters counters_;
  Rng random_;  ///< of traces
  DeadlineHeap<Connection> deadlines_;
  std::uint64_t next_number_ = 0;  ///< of an exchange; the shard's numbers end before numbers_end_
  std::uint64_t numbers_end_ = 0;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  std::unordered_map<SessionId, Connection*> exchanges_;
  std::vector<std::shared_ptr<Connection>> dirty_;  ///< to be flushed at the end of the batch
  std::array<char, 64 * 1024> scratch_;
};

}  // namespace troupe::http
