// The ordered end: in every phase within its deadline, every exchange told, nothing leaked.
#include <dirent.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "runtime/base/rng.hpp"
#include "runtime/http/client.hpp"
#include "tests/runtime/http/raw_socket.hpp"
#include "tests/runtime/http/recording_handler.hpp"

namespace troupe::http {
namespace {

using Clock = std::chrono::steady_clock;

std::size_t entries(const char* path) {
  DIR* folder = ::opendir(path);
  std::size_t count = 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

std::size_t open_files() {
  return entries("/proc/self/fd");
}
std::size_t threads() {
  return entries("/proc/self/task");
}

TEST(Shutdown, IdleConnectionsEndAtOnce) {
  TestServer test;
  test.reply_ok();
  RawSocket idle(test.port);
  idle.send(kGet);
  ASSERT_TRUE(idle.read_until("\r\n\r\nok"));
  const auto start = Clock::now();
  std::thread end([&] { test.server->shutdown(seconds(10)); });
  EXPECT_TRUE(idle.read_to_end());
  EXPECT_FALSE(idle.was_reset());
  idle.close();
  end.join();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
  EXPECT_FALSE(RawSocket(test.port).connected());
}

TEST(Shutdown, RunningExchangesMayFinish) {
  TestServer test;
  RawSocket socket(test.port);
  socket.send(kGet);
  const auto session = test.handler.wait_request(0);
  std::thread end([&] { test.server->shutdown(seconds(10)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  test.server->respond(session, {200, {}, "done"});
  EXPECT_TRUE(socket.read_to_end());
  EXPECT_NE(socket.received.find("connection: close"), std::string::npos);
  EXPECT_TRUE(socket.received.ends_with("done"));
  socket.close();
  end.join();
  EXPECT_EQ(test.handler.at(0).gone, 0);
}

TEST(Shutdown, AtAnyMomentWithinItsDeadline) {
  Rng rng(20261129);
  for (int round = 0; round < 50; ++round) {
    TestServer test({}, 1 + round % 2);
    test.handler.reply = [&](SessionId session, const Request& request) {
      if (request.path == "/wait") return;
      test.server->begin_stream(session, 200, {});
      for (int i = 0; i < 20; ++i) test.server->write(session, std::string(2000, 'x'));
      if (request.path == "/end") test.server->end(session);
    };
    std::vector<std::unique_ptr<RawSocket>> sockets;
    const std::string requests[] = {
        "",
        "GET /end",
        "POST /end HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc",
        "GET /wait HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /stream HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /end HTTP/1.1\r\nhost: a\r\n\r\nGET /stream HTTP/1.1\r\nhost: a\r\n\r\n"};
    for (int i = 0; i < 12; ++i) {
      sockets.push_back(std::make_unique<RawSocket>(test.port));
      sockets.back()->send(requests[rng.below(std::size(requests))]);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(3000)));
    const auto deadline = milliseconds(static_cast<std::int64_t>(rng.below(200)));
    const auto start = Clock::now();
    test.server->shutdown(deadline);
    const auto took = Clock::now() - start;
    EXPECT_LT(took, std::chrono::nanoseconds(deadline.value) + std::chrono::milliseconds(100))
        << "round " << round;
    EXPECT_EQ(test.server->stats().exchanges_open, 0u);
    EXPECT_EQ(test.server->stats().connections_open, 0u);
    for (std::size_t i = 0; i < test.handler.count(); ++i) {
      const auto exchange = test.handler.at(i);
      EXPECT_EQ(exchange.gone, exchange.request.path == "/end" ? exchange.gone : 1);
      EXPECT_LE(exchange.gone, 1);
    }
  }
}

/// One connection of each kind that tests know; some end well, some do not.
void one_of_every_kind(std::uint16_t port, int kind) {
  RawSocket socket(port);
  switch (kind) {
    case 0:
      socket.send(kGet);
      socket.read_until("\r\n\r\n");
      break;
    case 1:
      socket.send("GET");
      break;
    case 2:
      socket.send("GET / HTTP/1.1\nbad\n\n");
      socket.read_to_end();
      break;
    case 3:
      socket.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nab");
      break;
    case 4:
      socket.send(kGet);
      socket.reset();
      break;
    case 5:
      socket.send(std::string(kGet) + kGet);
      socket.half_close();
      socket.read_to_end();
      break;
    case 6:
      socket.send("GET / HTTP/1.0\r\n\r\n");
      socket.read_to_end();
      break;
    case 7:
      socket.send("GET /hang HTTP/1.1\r\nhost: a\r\n\r\n");
      break;
    case 8:
      socket.send("GET /cut HTTP/1.1\r\nhost: a\r\n\r\n");
      socket.read_to_end();
      break;
    default:
      break;
  }
}

TEST(Shutdown, NoDescriptorAndNoThreadIsLeaked) {
  const auto files_before = open_files();
  const auto threads_before = threads();
  {
    TestServer test;
    Client client;
    test.handler.reply = [&](SessionId session, const Request& request) {
      if (request.path == "/hang") return;
      test.server->begin_stream(session, 200, {});
      test.server->write(session, "abc");
      if (request.path == "/cut") return test.server->cut(session);
      test.server->end(session);
    };
    for (int i = 0; i < 500; ++i) one_of_every_kind(test.port, i % 10);
    for (int i = 0; i < 200 && test.server->stats().connections_open > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(test.server->stats().connections_open, 0u);
    EXPECT_EQ(test.server->stats().exchanges_open, 0u);
  }
  EXPECT_EQ(open_files(), files_before);
  EXPECT_EQ(threads(), threads_before);
}

TEST(Shutdown, WindingDownStillServesAndEachAnswerIsItsConnectionsLast) {
  TestServer test;
  test.reply_ok();
  RawSocket old(test.port);
  old.send(kGet);
  ASSERT_TRUE(old.read_until("\r\n\r\nok"));
  test.server->wind_down();
  RawSocket fresh(test.port);
  for (RawSocket* socket : {&old, &fresh}) {
    socket->received.clear();
    socket->send(kGet);
    EXPECT_TRUE(socket->read_to_end());
    EXPECT_EQ(socket->status(), 200);
    EXPECT_NE(socket->received.find("connection: close\r\n"), std::string::npos);
  }
  test.server->stop_accepting();
  int tries = 0;
  while (RawSocket(test.port).connected() && ++tries < 500)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_LT(tries, 500) << "still listening";
}

}  // namespace
}  // namespace troupe::http
