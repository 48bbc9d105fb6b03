// The client against our server, and against servers that misbehave.
#include "runtime/http/client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "runtime/http/loop.hpp"
#include "runtime/http/sse.hpp"
#include "tests/runtime/http/raw_socket.hpp"
#include "tests/runtime/http/recording_handler.hpp"

namespace troupe::http {
namespace {

struct Outcome {
  int status = 0;
  std::string body;
  std::optional<Error> error;
};

ClientRequest request_to(std::uint16_t port, std::string path = "/") {
  ClientRequest request;
  request.host = "127.0.0.1";
  request.port = port;
  request.path = std::move(path);
  return request;
}

std::string numbered_path(int i) {
  std::string path(1, '/');
  path += std::to_string(i);
  return path;
}

/// Starts a call and waits for its one end.
Outcome call(Client& client, ClientRequest request) {
  auto outcome = std::make_shared<Outcome>();
  auto done = std::make_shared<std::promise<void>>();
  client.start(std::move(request),
               {.on_headers = [outcome](int status, const Headers&) { outcome->status = status; },
                .on_data = [outcome](std::string_view bytes) { outcome->body += bytes; },
                .on_end = [done] { done->set_value(); },
                .on_error =
                    [outcome, done](const Error& error) {
                      outcome->error = error;
                      done->set_value();
                    }});
  EXPECT_EQ(done->get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
  return *outcome;
}

/// A server of raw bytes: each accepted connection gets one script, then it is closed.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> scripts) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    socklen_t length = sizeof address;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
    port = ntohs(address.sin_port);
    ::listen(fd_, 16);
    thread_ = std::thread([this, scripts = std::move(scripts)] {
      for (const auto& script : scripts) serve(script);
    });
  }
  ~ScriptedServer() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  std::uint16_t port = 0;

 private:
  void serve(const std::string& script) {
    const int peer = ::accept(fd_, nullptr, nullptr);
    if (peer < 0) return;
    char buffer[4096];
    if (::recv(peer, buffer, sizeof buffer, 0) > 0)
      (void)::send(peer, script.data(), script.size(), MSG_NOSIGNAL);
    ::close(peer);
  }
  int fd_;
  std::thread thread_;
};

TEST(Client, KeepsConnectionsAlive) {
  TestServer test;
  test.reply_ok("hello");
  Client client;
  for (int i = 0; i < 20; ++i) {
    auto request = request_to(test.port, "/a?b=c");
    request.method = "POST";
    request.body = "body";
    request.headers = {{"x-test", "1"}};
    const auto outcome = call(client, request);
    EXPECT_EQ(outcome.status, 200);
    EXPECT_EQ(outcome.body, "hello");
  }
  EXPECT_EQ(test.server->stats().connections_total, 1u);
  const auto seen = test.handler.at(19).request;
  EXPECT_EQ(seen.query, "b=c");
  EXPECT_EQ(seen.body, "body");
  EXPECT_EQ(find_header(seen.headers, "x-test"), "1");
  EXPECT_EQ(find_header(seen.headers, "host"),
            std::string("127.0.0.1:") + std::to_string(test.port));
}

TEST(Client, ResolvesNames) {
  TestServer test;
  test.reply_ok("hello");
  Client client;
  auto request = request_to(test.port);
  request.host = "localhost";
  EXPECT_EQ(call(client, request).body, "hello");
}

TEST(Client, StreamsEvents) {
  TestServer test;
  test.handler.reply = [&](SessionId session, const Request&) {
    test.server->begin_stream(session, 200, {{"content-type", "text/event-stream"}});
    for (int i = 0; i < 100; ++i)
      test.server->write(session, std::string("data: ") + std::to_string(i) + "\n\n");
    test.server->end(session);
  };
  Client client;
  const auto outcome = call(client, request_to(test.port));
  SseParser parser;
  const auto events = parser.feed(outcome.body);
  ASSERT_EQ(events.value().size(), 100u);
  EXPECT_EQ(events.value()[99].data, "99");
}

TEST(Client, BrokenAnswersAreErrors) {
  const std::string chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  for (const std::string& script :
       {chunked + "3\r\nabc\r\n", chunked + "3\r\nab", chunked + "zz\r\n", std::string("nonsense"),
        std::string("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc"), std::string("HTTP/1.1 20"),
        std::string("")}) {
    ScriptedServer server({script});
    Client client;
    EXPECT_TRUE(call(client, request_to(server.port)).error.has_value()) << script;
  }
}

TEST(Client, UnusualAnswersAreUnderstood) {
  Client client;
  ScriptedServer until_close({"HTTP/1.0 200 OK\r\n\r\nall of it"});
  EXPECT_EQ(call(client, request_to(until_close.port)).body, "all of it");
  ScriptedServer interim(
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\na: b\r\n\r\n"
       "HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno"});
  const auto outcome = call(client, request_to(interim.port));
  EXPECT_EQ(outcome.status, 404);
  EXPECT_EQ(outcome.body, "no");
}

TEST(Client, StaleConnectionIsRetriedOnce) {
  const std::string answer = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n";
  ScriptedServer server({answer + "1", answer + "2", ""});
  Client client;
  EXPECT_EQ(call(client, request_to(server.port)).body, "1");
  EXPECT_EQ(call(client, request_to(server.port)).body, "2");
}

TEST(Client, RefusedConnectionAndTimeoutsAreErrors) {
  std::uint16_t closed_port = 0;
  {
    TestServer test;
    closed_port = test.port;
  }
  Client client;
  EXPECT_EQ(call(client, request_to(closed_port)).error->code, Code::kUnavailable);
  TestServer hangs;
  auto request = request_to(hangs.port);
  request.total_timeout = milliseconds(100);
  EXPECT_EQ(call(client, request).error->code, Code::kDeadline);
  EXPECT_TRUE(hangs.handler.wait_gone(0)) << "the server sees the client leave";
}

TEST(Client, CancelClosesTheConnectionWithoutCallbacks) {
  TestServer test;
  Client client;
  std::atomic<int> ends{0};
  const ClientCallbacks counting{.on_end = [&] { ++ends; },
                                 .on_error = [&](const Error&) { ++ends; }};
  const auto id = client.start(request_to(test.port), counting);
  test.handler.wait_request(0);
  client.cancel(id);
  EXPECT_TRUE(test.handler.wait_gone(0));
  client.cancel(client.start(request_to(test.port), counting));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(ends, 0);
}

TEST(Client, AFullInboxIsToldOnTheIoThread) {
  TestServer test;
  Client client;
  ClientRequest large = request_to(test.port);
  large.body.assign(Loop::kInboxBytesMax + 1, 'x');
  std::mutex held;  // by a caller whose callback takes it too
  std::promise<Error> refused;
  {
    const std::lock_guard lock(held);
    client.start(std::move(large), {.on_error = [&](const Error& error) {
                   const std::lock_guard callback_lock(held);
                   refused.set_value(error);
                 }});
  }
  EXPECT_EQ(refused.get_future().get().code, Code::kTooLarge);
}

TEST(Client, CancelWithinACallbackStopsTheRest) {
  TestServer test;
  test.handler.reply = [&](SessionId session, const Request&) {
    test.server->begin_stream(session, 200, {});
    test.server->write(session, "abc");
  };
  Client client;
  CallId id;
  std::atomic<int> pieces{0};
  std::atomic<int> ends{0};
  std::promise<void> started;
  auto ready = started.get_future().share();
  id = client.start(request_to(test.port), {.on_data =
                                                [&](std::string_view) {
                                                  ready.wait();
                                                  ++pieces;
                                                  client.cancel(id);
                                                },
                                            .on_end = [&] { ++ends; },
                                            .on_error = [&](const Error&) { ++ends; }});
  started.set_value();
  EXPECT_TRUE(test.handler.wait_gone(0));
  EXPECT_EQ(pieces, 1);
  EXPECT_EQ(ends, 0);
}

TEST(Client, ThreeHundredStreamsAtOnce) {
  TestServer test;
  test.handler.reply = [&](SessionId session, const Request& request) {
    test.server->begin_stream(session, 200, {});
    for (int i = 0; i < 20; ++i) test.server->write(session, request.path + ";");
    test.server->end(session);
  };
  constexpr int kCalls = 300;
  std::vector<std::string> bodies(kCalls);
  std::atomic<int> ended{0};
  std::promise<void> all;
  Client client;
  for (int i = 0; i < kCalls; ++i) {
    const auto finish = [&] {
      if (++ended == kCalls) all.set_value();
    };
    client.start(request_to(test.port, numbered_path(i)),
                 {.on_data = [&, i](std::string_view bytes) { bodies[i] += bytes; },
                  .on_end = finish,
                  .on_error =
                      [finish](const Error& error) {
                        ADD_FAILURE() << error.message;
                        finish();
                      }});
  }
  ASSERT_EQ(all.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  for (int i = 0; i < kCalls; ++i) {
    std::string want;
    for (int k = 0; k < 20; ++k) want += numbered_path(i) + ";";
    EXPECT_EQ(bodies[i], want);
  }
}

TEST(Client, DestructorDropsRunningCalls) {
  TestServer test;
  {
    Client client;
    client.start(request_to(test.port), {.on_error = [](const Error&) { ADD_FAILURE(); }});
    test.handler.wait_request(0);
  }
  EXPECT_TRUE(test.handler.wait_gone(0));
}

}  // namespace
}  // namespace troupe::http
