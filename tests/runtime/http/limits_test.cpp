// Deadlines, caps and abuse over real sockets: every offender is answered or cut, in time.
#include <gtest/gtest.h>

#include <thread>

#include "tests/runtime/http/raw_socket.hpp"
#include "tests/runtime/http/recording_handler.hpp"

namespace troupe::http {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

milliseconds since(Clock::time_point start) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - start);
}

void expect_error_body(const RawSocket& socket, int status) {
  EXPECT_EQ(socket.status(), status);
  EXPECT_NE(socket.received.find("content-type: application/json\r\n"), std::string::npos);
  EXPECT_NE(socket.received.find("{\"error\":{\"message\":\""), std::string::npos);
  EXPECT_NE(socket.received.find("\"param\":null,\"code\":\""), std::string::npos);
  EXPECT_NE(socket.received.find("connection: close\r\n"), std::string::npos);
}

TEST(Limits, HeaderDeadlineIsNotMovedByBytes) {
  TestServer test(Limits{.header_timeout = troupe::milliseconds(300)});
  RawSocket slow(test.port);
  const auto start = Clock::now();
  while (since(start) < milliseconds(3000) && slow.send("G") && !slow.read_some(20)) {
    if (!slow.timed_out()) break;
  }
  EXPECT_TRUE(slow.read_to_end());
  EXPECT_GE(since(start), milliseconds(250));
  EXPECT_LT(since(start), milliseconds(1500));
  expect_error_body(slow, 408);
}

TEST(Limits, SilentConnectionsAreClosed) {
  TestServer test(Limits{.header_timeout = troupe::milliseconds(200),
                         .idle_timeout = troupe::milliseconds(300)});
  test.reply_ok();
  RawSocket silent(test.port);
  EXPECT_TRUE(silent.read_to_end(1500));
  EXPECT_EQ(silent.received, "");
  RawSocket idle(test.port);
  idle.send(kGet);
  ASSERT_TRUE(idle.read_until("\r\n\r\nok"));
  const auto start = Clock::now();
  EXPECT_TRUE(idle.read_to_end(1500));
  EXPECT_GE(since(start), milliseconds(250)) << "idle connections live longer than headers";
  EXPECT_FALSE(idle.was_reset());
}

TEST(Limits, SecondRequestHasItsOwnHeaderDeadline) {
  TestServer test(Limits{.header_timeout = troupe::milliseconds(200)});
  test.reply_ok();
  RawSocket socket(test.port);
  socket.send(kGet);
  ASSERT_TRUE(socket.read_until("\r\n\r\nok"));
  std::this_thread::sleep_for(milliseconds(400));
  socket.received.clear();
  socket.send("GET /");
  EXPECT_TRUE(socket.read_to_end(1500));
  expect_error_body(socket, 408);
}

TEST(Limits, BodyDeadline) {
  TestServer test(Limits{.body_timeout = troupe::milliseconds(200)});
  RawSocket socket(test.port);
  socket.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc");
  EXPECT_TRUE(socket.read_to_end(1500));
  expect_error_body(socket, 408);
  EXPECT_EQ(test.handler.count(), 0u);
}

TEST(Limits, ReaderWithoutProgressIsGone) {
  TestServer test(
      Limits{.write_timeout = troupe::milliseconds(300), .send_buffer_bytes = 16 * 1024});
  RawSocket socket(test.port, 4096);
  socket.send(kGet);
  const auto session = test.handler.wait_request(0);
  test.server->begin_stream(session, 200, {});
  test.server->write(session, std::string(900 * 1024, 'x'));
  const auto start = Clock::now();
  EXPECT_TRUE(test.handler.wait_gone(0));
  EXPECT_LT(since(start), milliseconds(1500));
  EXPECT_EQ(test.handler.at(0).gone, 1);
}

TEST(Limits, OutstandingBytesAreCapped) {
  TestServer test(Limits{.outstanding_bytes_max = 100'000, .send_buffer_bytes = 16 * 1024});
  RawSocket socket(test.port, 4096);
  socket.send(kGet);
  const auto session = test.handler.wait_request(0);
  test.server->begin_stream(session, 200, {});
  std::size_t written = 0;
  while (test.handler.at(0).gone == 0 && written < 10'000'000) {
    test.server->write(session, std::string(1000, 'x'));
    written += 1000;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  EXPECT_EQ(test.handler.at(0).gone, 1);
  EXPECT_LT(written, 5'000'000u);
  EXPECT_TRUE(socket.read_to_end());
  EXPECT_EQ(socket.received.find("\r\n0\r\n\r\n"), std::string::npos) << "no last chunk";
}

TEST(Limits, ConnectionsOverTheMaximumAreToldSo) {
  TestServer test(Limits{.connections_max = 5});
  test.reply_ok();
  std::vector<std::unique_ptr<RawSocket>> held;
  for (int i = 0; i < 5; ++i) {
    held.push_back(std::make_unique<RawSocket>(test.port));
    held.back()->send(kGet);
    ASSERT_TRUE(held.back()->read_until("\r\n\r\nok"));
  }
  for (int i = 0; i < 20; ++i) {
    RawSocket over(test.port);
    over.send(kGet);
    EXPECT_TRUE(over.read_to_end());
    expect_error_body(over, 503);
    EXPECT_NE(over.received.find("retry-after: 1\r\n"), std::string::npos);
    EXPECT_FALSE(over.was_reset());
  }
  held.clear();
  std::this_thread::sleep_for(milliseconds(50));
  RawSocket again(test.port);
  again.send(kGet);
  EXPECT_TRUE(again.read_until("\r\n\r\nok"));
  EXPECT_EQ(test.server->stats().connections_rejected, 20u);
}

TEST(Limits, TooLargeUploadSeesTheAnswerNotAReset) {
  TestServer test(Limits{.body_bytes_max = 100'000});
  RawSocket socket(test.port);
  socket.send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
  const std::string chunk = "2710\r\n" + std::string(10'000, 'x') + "\r\n";
  for (int i = 0; i < 200 && socket.send(chunk); ++i) {
  }
  EXPECT_TRUE(socket.read_until("}}"));
  expect_error_body(socket, 413);
}

TEST(Limits, AbuseIsAnsweredAndClosedAndTheSmuggledRequestNeverRuns) {
  TestServer test;
  test.reply_ok();
  const std::string smuggled = "0\r\n\r\nGET /admin HTTP/1.1\r\nhost: a\r\n\r\n";
  const std::string post = "POST /x HTTP/1.1\r\nhost: a\r\n";
  for (const std::string& head :
       {post + "content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n",
        post + "content-length: 5\r\ncontent-length: 6\r\n\r\n",
        post + "transfer-encoding: xchunked\r\n\r\n", post + "x: a\r\n b\r\n\r\n",
        post + "content-length : 5\r\n\r\n", std::string("POST /x HTTP/1.1\nhost: a\n\n"),
        post + std::string("x: \0\r\n\r\n", 8)}) {
    RawSocket socket(test.port);
    socket.send(head + smuggled);
    EXPECT_TRUE(socket.read_to_end());
    expect_error_body(socket, 400);
    EXPECT_FALSE(socket.was_reset());
  }
  EXPECT_EQ(test.handler.count(), 0u);
  EXPECT_EQ(test.server->stats().requests_refused, 7u);
}

TEST(Limits, PipelinedFloodIsBounded) {
  TestServer test;
  test.handler.reply = [&](SessionId session, const Request&) {
    if (test.handler.count() > 1) test.server->respond(session, {200, {}, "ok"});
  };
  RawSocket socket(test.port);
  socket.send(kGet);
  const auto first = test.handler.wait_request(0);
  std::string flood;
  for (int i = 0; i < 2000; ++i) flood += kGet;
  std::thread sender([&] { socket.send(flood); });
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_LT(test.server->stats().bytes_received, 100'000u) << "reading pauses";
  test.server->respond(first, {200, {}, "ok"});
  EXPECT_TRUE(test.handler.wait([&] { return test.server->stats().requests_total == 2001; }));
  sender.join();
}

TEST(Listen, UsedPortSaysWhatToDo) {
  TestServer test;
  RecordingHandler other;
  const auto again = Server::listen("127.0.0.1", test.port, {}, other);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message, "port " + std::to_string(test.port) +
                                       " is in use: choose another with --port or stop the other "
                                       "process");
  const auto elsewhere = Server::listen("192.0.2.1", 0, {}, other);
  ASSERT_FALSE(elsewhere.ok());
  EXPECT_NE(elsewhere.error().message.find("is not an address of this machine"), std::string::npos);
}

TEST(Listen, ATakenPortAnswersNobodyBeforeTheStart) {
  auto taken = Server::bind("127.0.0.1", 0, {});
  ASSERT_TRUE(taken.ok());
  const std::uint16_t port = (*taken)->port();
  auto rival = Server::bind("127.0.0.1", port, {});
  ASSERT_TRUE(rival.ok()) << "nobody listens yet";
  RecordingHandler handler;
  EXPECT_TRUE((*taken)->start(handler).ok());
  const Status late = (*rival)->start(handler);
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().message.find("is in use"), std::string::npos);
  EXPECT_FALSE(Server::bind("127.0.0.1", port, {}).ok());
}

}  // namespace
}  // namespace troupe::http
