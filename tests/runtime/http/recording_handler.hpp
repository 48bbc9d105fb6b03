// A handler that records what the server says, and a server with it on a free port.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/http/server.hpp"

namespace troupe::http {

class RecordingHandler : public Handler {
 public:
  struct Exchange {
    SessionId id;
    Request request;
    std::size_t drained = 0;
    int drained_calls = 0;
    int gone = 0;
  };
  static constexpr auto kWait = std::chrono::seconds(5);

  /// Runs on the io thread for every request, after it was recorded.
  std::function<void(SessionId, const Request&)> reply;
  std::function<std::optional<Response>(const Request&)> early;

  std::optional<Response> on_headers(const Request& request) override {
    return early ? early(request) : std::nullopt;
  }
  void on_request(SessionId session, Request request) override {
    {
      const std::lock_guard lock(mutex_);
      index_[session.value] = exchanges_.size();
      exchanges_.push_back({session, request});
    }
    changed_.notify_all();
    if (reply) reply(session, request);
  }
  void on_drained(SessionId session, std::size_t total) override {
    {
      const std::lock_guard lock(mutex_);
      auto& exchange = exchanges_[index_.at(session.value)];
      EXPECT_EQ(exchange.gone, 0) << "drained after gone";
      EXPECT_GE(total, exchange.drained);
      exchange.drained = total;
      ++exchange.drained_calls;
    }
    changed_.notify_all();
  }
  void on_gone(SessionId session) override {
    {
      const std::lock_guard lock(mutex_);
      ++exchanges_[index_.at(session.value)].gone;
    }
    changed_.notify_all();
  }

  void on_ended(const Ended& ended) override {
    const std::lock_guard lock(mutex_);
    ends_.push_back({ended.how, ended.session, ended.head ? ended.head->path : "", ended.trace,
                     ended.status, ended.body_bytes, std::string(ended.code)});
    changed_.notify_all();
  }

  /// An Ended that outlives its call.
  struct End {
    Ended::How how;
    SessionId session;
    std::string path;
    TraceContext trace;
    int status;
    std::uint64_t body_bytes;
    std::string code;
  };
  /// All ends, once there are so many.
  std::vector<End> wait_ends(std::size_t n) {
    EXPECT_TRUE(wait([&] { return ends_.size() >= n; })) << "not " << n << " ends";
    const std::lock_guard lock(mutex_);
    return ends_;
  }

  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return exchanges_.size();
  }
  void forget_body(std::size_t i) {
    const std::lock_guard lock(mutex_);
    exchanges_.at(i).request.hold.reset();
  }
  /// Within wait()'s condition or between requests.
  int index_of(std::string_view path) const {
    for (std::size_t i = 0; i < exchanges_.size(); ++i) {
      if (exchanges_[i].request.path == path) return static_cast<int>(i);
    }
    return -1;
  }
  Exchange at(std::size_t i) {
    const std::lock_guard lock(mutex_);
    return exchanges_.at(i);
  }
  /// The i-th request, waited for.
  SessionId wait_request(std::size_t i) {
    EXPECT_TRUE(wait([&] { return exchanges_.size() > i; })) << "no request " << i;
    return at(i).id;
  }
  bool wait_gone(std::size_t i, std::chrono::milliseconds limit = kWait) {
    return wait([&] { return exchanges_.size() > i && exchanges_[i].gone > 0; }, limit);
  }
  bool wait_drained(std::size_t i, std::size_t bytes) {
    return wait([&] { return exchanges_.size() > i && exchanges_[i].drained >= bytes; });
  }
  bool wait(const std::function<bool()>& condition, std::chrono::milliseconds limit = kWait) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, condition);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Exchange> exchanges_;
  std::map<std::uint64_t, std::size_t> index_;
  std::vector<End> ends_;
};

/// Destroyed in this order: the server first, then its handler.
struct TestServer {
  explicit TestServer(const Limits& limits = {}, int threads = 1)
      : TestServer(ServerOptions(limits, threads)) {}
  explicit TestServer(ServerOptions options) {
    auto result = Server::listen("127.0.0.1", 0, std::move(options), handler);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    server = std::move(result).value();
    port = server->port();
  }
  void reply_ok(std::string body = "ok") {
    handler.reply = [this, body](SessionId session, const Request&) {
      server->respond(session, {200, {{"content-type", "text/plain"}}, body});
    };
  }

  RecordingHandler handler;
  std::unique_ptr<Server> server;
  std::uint16_t port = 0;
};

inline constexpr const char* kGet = "GET /x HTTP/1.1\r\nhost: a\r\n\r\n";

}  // namespace troupe::http
