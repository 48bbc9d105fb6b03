#include "runtime/http/server.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <chrono>

#include "runtime/base/assert.hpp"
#include "runtime/http/connection.hpp"
#include "runtime/http/listener.hpp"
#include "runtime/http/shard.hpp"

namespace troupe::http {

using boost::asio::ip::tcp;
using boost::system::error_code;

namespace {

/// After running out of descriptors: others must close some first.
constexpr auto kAcceptPause = std::chrono::milliseconds(20);
/// What shutdown() keeps of its deadline for closing sockets and joining threads.
constexpr Duration kCloseTime = milliseconds(50);

}  // namespace

struct Server::Impl {
  explicit Impl(ServerOptions options) : shared(std::move(options)) {}

  ServerShared shared;
  std::vector<std::unique_ptr<Shard>> shards;
  std::unique_ptr<tcp::acceptor> acceptor;  ///< on the loop of shards[0]
  std::unique_ptr<boost::asio::steady_timer> pause;
  std::size_t next_shard = 0;
  std::string host;
  std::uint16_t port = 0;

  void accept_next();
  void on_accepted(const error_code& error, tcp::socket socket, Shard& target);
  void close_acceptor();

  /// Runs `call(connection)` on the loop of the session, if the exchange still runs there.
  template <class Call>
  bool on_session(SessionId session, std::size_t bytes, Call call) {
    const auto index = session.value % Shard::kShardsMax;
    if (index >= shards.size()) return true;
    Shard& shard = *shards[index];
    return shard.loop.submit(bytes, [&shard, session, call = std::move(call)]() mutable {
      if (const auto connection = shard.find(session)) call(*connection);
    });
  }
};

void Server::Impl::accept_next() {
  Shard& target = *shards[next_shard];
  next_shard = (next_shard + 1) % shards.size();
  acceptor->async_accept(target.loop.context(),
                         [this, &target](const error_code& error, tcp::socket socket) {
                           on_accepted(error, std::move(socket), target);
                         });
}

void Server::Impl::on_accepted(const error_code& error, tcp::socket socket, Shard& target) {
  if (!acceptor->is_open()) return;
  if (!error) {
    // A job must be copyable, a socket is not.
    auto shared_socket = std::make_shared<tcp::socket>(std::move(socket));
    (void)target.loop.submit(0,
                             [&target, shared_socket] { target.adopt(std::move(*shared_socket)); });
    return accept_next();
  }
  if (error == boost::asio::error::connection_aborted) return accept_next();
  pause->expires_after(kAcceptPause);
  pause->async_wait([this](const error_code& cancelled) {
    if (!cancelled && acceptor->is_open()) accept_next();
  });
}

void Server::Impl::close_acceptor() {
  error_code error;
  acceptor->close(error);
  pause->cancel();
}

Result<std::unique_ptr<Server>> Server::bind(const std::string& host, std::uint16_t port,
                                             ServerOptions options) {
  const int threads = options.threads;
  if (threads < 1 || threads > static_cast<int>(Shard::kShardsMax))
    return Error{Code::kInvalid, "an HTTP server has 1 to 64 threads"};
  auto impl = std::make_unique<Impl>(std::move(options));
  for (int i = 0; i < threads; ++i)
    impl->shards.push_back(std::make_unique<Shard>(impl->shared, static_cast<std::uint64_t>(i)));
  auto& context = impl->shards[0]->loop.context();
  TROUPE_TRY_ASSIGN(tcp::acceptor acceptor, bind_listener(context, host, port));
  error_code error;
  impl->host = host;
  impl->port = acceptor.local_endpoint(error).port();
  impl->acceptor = std::make_unique<tcp::acceptor>(std::move(acceptor));
  impl->pause = std::make_unique<boost::asio::steady_timer>(context);
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Status Server::start(Handler& handler) {
  TROUPE_ASSERT(impl_->shared.handler == nullptr, "a server starts once");
  TROUPE_TRY(begin_listening(*impl_->acceptor, impl_->host, impl_->port));
  impl_->shared.handler = &handler;
  impl_->accept_next();
  for (auto& shard : impl_->shards) shard->start();
  return ok_status();
}

Result<std::unique_ptr<Server>> Server::listen(const std::string& host, std::uint16_t port,
                                               ServerOptions options, Handler& handler) {
  TROUPE_TRY_ASSIGN(auto server, bind(host, port, std::move(options)));
  TROUPE_TRY(server->start(handler));
  return server;
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  shutdown(Duration(0));
}

std::uint16_t Server::port() const {
  return impl_->port;
}

void Server::respond(SessionId session, Response response) {
  const std::size_t bytes = response.body.size();
  const bool taken = impl_->on_session(
      session, bytes,
      [response = std::move(response)](Connection& c) mutable { c.respond(std::move(response)); });
  if (!taken) impl_->on_session(session, 0, [](Connection& c) { c.cut_over_cap(); });
}

void Server::begin_stream(SessionId session, int status, Headers headers) {
  impl_->on_session(session, 0, [status, headers = std::move(headers)](Connection& c) {
    c.begin_stream(status, headers);
  });
}

void Server::write(SessionId session, std::string bytes) {
  const std::size_t size = bytes.size();
  const bool taken = impl_->on_session(
      session, size, [bytes = std::move(bytes)](Connection& c) { c.write(bytes); });
  if (!taken) impl_->on_session(session, 0, [](Connection& c) { c.cut_over_cap(); });
}

void Server::end(SessionId session) {
  impl_->on_session(session, 0, [](Connection& c) { c.end(); });
}

void Server::cut(SessionId session) {
  impl_->on_session(session, 0, [](Connection& c) { c.cut(); });
}

void Server::wind_down() {
  impl_->shared.winding_down = true;
}

void Server::renew_tls(std::shared_ptr<const TlsContext> tls) {
  TROUPE_ASSERT(impl_->shared.current_tls() && tls, "a server keeps to TLS or to plain HTTP");
  impl_->shared.set_tls(std::move(tls));
}

void Server::stop_accepting() {
  wind_down();
  if (impl_->shared.draining.exchange(true)) return;
  (void)impl_->shards[0]->loop.submit(0, [impl = impl_.get()] { impl->close_acceptor(); });
  for (auto& shard : impl_->shards)
    (void)shard->loop.submit(0, [shard = shard.get()] { shard->drain(); });
}

void Server::shutdown(Duration deadline) {
  stop_accepting();
  const Duration wait = deadline - std::min(kCloseTime, deadline / 2);
  {
    std::unique_lock lock(impl_->shared.mutex);
    impl_->shared.all_closed.wait_for(lock, std::chrono::nanoseconds(wait.value),
                                      [&] { return impl_->shared.connections_open == 0; });
  }
  for (auto& shard : impl_->shards) shard->loop.stop([shard = shard.get()] { shard->close_all(); });
}

Stats Server::stats() const {
  const ServerShared& s = impl_->shared;
  Stats stats{.connections_open = s.connections_open,
              .connections_total = s.connections_total,
              .connections_rejected = s.connections_rejected,
              .body_bytes_held = s.bodies->used()};
  for (const auto& shard : impl_->shards) {
    const ShardCounters& counters = std::as_const(*shard).counters();
    stats.requests_total += counters.requests.value();
    stats.requests_refused += counters.refused.value();
    stats.exchanges_open += counters.exchanges_open.value();
    stats.gone_total += counters.gone.value();
    stats.bytes_received += counters.bytes_received.value();
    stats.bytes_sent += counters.bytes_sent.value();
  }
  return stats;
}

}  // namespace troupe::http
