// Requests and answers over real sockets: keep-alive, pipelining, uploads, streams.
#include <gtest/gtest.h>

#include <thread>

#include "tests/runtime/http/raw_socket.hpp"
#include "tests/runtime/http/recording_handler.hpp"

namespace troupe::http {
namespace {

std::size_t occurrences(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(Exchange, KeepAliveServesManyRequestsOnOneConnection) {
  TestServer test;
  test.reply_ok();
  RawSocket socket(test.port);
  for (int i = 0; i < 50; ++i) {
    socket.received.clear();
    ASSERT_TRUE(socket.send(kGet));
    ASSERT_TRUE(socket.read_until("\r\n\r\nok"));
  }
  const auto stats = test.server->stats();
  EXPECT_EQ(stats.connections_total, 1u);
  EXPECT_EQ(stats.requests_total, 50u);
  EXPECT_TRUE(test.handler.wait_drained(49, 2)) << "a last on_drained says that the answer is out";
}

TEST(Exchange, ConnectionCloseIsHonoured) {
  TestServer test;
  test.reply_ok();
  RawSocket socket(test.port);
  socket.send("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  EXPECT_TRUE(socket.read_to_end());
  EXPECT_NE(socket.received.find("connection: close"), std::string::npos);
  EXPECT_FALSE(socket.was_reset());
}

TEST(Exchange, PipelinedRequestsAreHandedOutOneByOne) {
  TestServer test;
  RawSocket socket(test.port);
  socket.send(std::string(kGet) + "GET /2 HTTP/1.1\r\nhost: a\r\n\r\n" +
              "POST /3 HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc");
  const auto first = test.handler.wait_request(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(test.handler.count(), 1u) << "the next only after the answer";
  test.server->respond(first, {200, {}, "1"});
  test.server->respond(test.handler.wait_request(1), {200, {}, "2"});
  const auto third = test.handler.wait_request(2);
  EXPECT_EQ(test.handler.at(2).request.path, "/3");
  EXPECT_EQ(test.handler.at(2).request.body, "abc");
  test.server->respond(third, {200, {}, "3"});
  EXPECT_TRUE(socket.read_until("\r\n\r\n3"));
  EXPECT_EQ(occurrences(socket.received, "HTTP/1.1 200"), 3u);
}

TEST(Exchange, HalfClosedPipelineIsAnsweredToTheEnd) {
  TestServer test;
  test.reply_ok();
  RawSocket socket(test.port);
  socket.send(std::string(kGet) + kGet + kGet);
  socket.half_close();
  EXPECT_TRUE(socket.read_to_end());
  EXPECT_EQ(occurrences(socket.received, "HTTP/1.1 200"), 3u);
}

TEST(Exchange, HalfClosedClientGetsALateAnswerAndAStream) {
  TestServer test;
  RawSocket waits(test.port);
  waits.send(kGet);
  waits.half_close();
  const auto waiting = test.handler.wait_request(0);
  EXPECT_TRUE(waits.read_until("HTTP/1.1 100 Continue")) << "the probe";
  test.server->respond(waiting, {200, {}, "late"});
  EXPECT_TRUE(waits.read_until("\r\n\r\nlate"));
  EXPECT_TRUE(waits.read_to_end());

  RawSocket streams(test.port);
  streams.send(kGet);
  const auto streaming = test.handler.wait_request(1);
  test.server->begin_stream(streaming, 200, {});
  test.server->write(streaming, "abc");
  ASSERT_TRUE(streams.read_until("abc\r\n"));
  streams.half_close();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  test.server->write(streaming, "defg");
  test.server->end(streaming);
  EXPECT_TRUE(streams.read_until("\r\n04\r\ndefg\r\n0\r\n\r\n")) << streams.received;
  EXPECT_EQ(test.handler.at(1).gone, 0);
}

TEST(Exchange, ChunkedUploadIsJoined) {
  TestServer test;
  test.reply_ok();
  RawSocket socket(test.port);
  socket.send("POST /u HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
  std::string want;
  for (int i = 0; i < 100; ++i) {
    const std::string piece(1 + static_cast<std::size_t>(i) * 37, static_cast<char>('a' + i % 26));
    char size[16];
    std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
    socket.send(size + piece + "\r\n");
    want += piece;
  }
  socket.send("0\r\nsome-trailer: x\r\n\r\n");
  ASSERT_TRUE(socket.read_until("\r\n\r\nok"));
  EXPECT_EQ(test.handler.at(0).request.body, want);
}

TEST(Exchange, LargeUploadArrivesWhole) {
  TestServer test;
  test.reply_ok();
  const std::string body(20 * 1024 * 1024, 'x');
  RawSocket socket(test.port);
  socket.send(std::string("POST /u HTTP/1.1\r\nhost: a\r\ncontent-length: ") +
              std::to_string(body.size()) + "\r\n\r\n");
  ASSERT_TRUE(socket.send(body));
  ASSERT_TRUE(socket.read_until("\r\n\r\nok"));
  EXPECT_EQ(test.handler.at(0).request.body.size(), body.size());
}

TEST(Exchange, ExpectContinue) {
  TestServer test;
  test.reply_ok();
  const std::string head =
      "POST /u HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n";
  RawSocket polite(test.port);
  polite.send(head);
  ASSERT_TRUE(polite.read_until("HTTP/1.1 100 Continue\r\n\r\n", 50));
  polite.send("abc");
  EXPECT_TRUE(polite.read_until("\r\n\r\nok"));

  RawSocket hasty(test.port);
  hasty.send(head + "abc");
  EXPECT_TRUE(hasty.read_until("\r\n\r\nok"));
  EXPECT_EQ(hasty.received.find("100 Continue"), std::string::npos) << "the body came already";

  RawSocket huge(test.port);
  huge.send(
      "POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 99999999\r\n\r\n");
  EXPECT_TRUE(huge.read_to_end());
  EXPECT_EQ(huge.status(), 413);
  EXPECT_EQ(huge.received.find("100 Continue"), std::string::npos);
}

TEST(Exchange, EarlyAnswerSparesTheBody) {
  TestServer test;
  test.handler.early = [](const Request& request) -> std::optional<Response> {
    if (find_header(request.headers, "authorization").empty()) return Response{401, {}, "no key"};
    return std::nullopt;
  };
  RawSocket socket(test.port);
  socket.send("POST /u HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n");
  EXPECT_TRUE(socket.read_to_end());
  EXPECT_EQ(socket.status(), 401);
  EXPECT_EQ(test.handler.count(), 0u);
}

TEST(Exchange, HeadAndOptionsAndOldVersion) {
  TestServer test;
  test.handler.reply = [&](SessionId session, const Request& request) {
    test.server->respond(
        session, request.method == "OPTIONS" ? Response{204, {}, ""} : Response{200, {}, "hello"});
  };
  RawSocket socket(test.port);
  socket.send("HEAD / HTTP/1.1\r\nhost: a\r\n\r\nOPTIONS /x HTTP/1.1\r\nhost: a\r\n\r\n");
  ASSERT_TRUE(socket.read_until("HTTP/1.1 204 No Content"));
  EXPECT_NE(socket.received.find("content-length: 5\r\n\r\nHTTP/1.1 204"), std::string::npos);

  RawSocket old(test.port);
  old.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.read_to_end());
  EXPECT_TRUE(old.received.ends_with("\r\n\r\nhello"));
}

TEST(Exchange, StreamForOldVersionEndsWithTheConnection) {
  TestServer test;
  RawSocket socket(test.port);
  socket.send("GET / HTTP/1.0\r\n\r\n");
  const auto session = test.handler.wait_request(0);
  test.server->begin_stream(session, 200, {});
  test.server->write(session, "abc");
  test.server->end(session);
  EXPECT_TRUE(socket.read_to_end());
  EXPECT_TRUE(socket.received.ends_with("\r\n\r\nabc")) << socket.received;
  EXPECT_FALSE(socket.was_reset());
}

TEST(Exchange, SlowReaderIsAccountedForExactly) {
  TestServer test(Limits{.send_buffer_bytes = 16 * 1024});
  RawSocket socket(test.port, 4096);
  socket.send(kGet);
  const auto session = test.handler.wait_request(0);
  test.server->begin_stream(session, 200, {});
  constexpr std::size_t kTotal = 900 * 1024;
  for (int i = 0; i < 900; ++i) test.server->write(session, std::string(1024, 'x'));
  test.server->end(session);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto early = test.handler.at(0).drained;
  EXPECT_LT(early, kTotal / 2) << "the kernel must not swallow the backlog";
  ASSERT_TRUE(socket.read_until("\r\n0\r\n\r\n"));
  EXPECT_TRUE(test.handler.wait_drained(0, kTotal));
  EXPECT_EQ(test.handler.at(0).drained, kTotal);
  EXPECT_GT(test.handler.at(0).drained_calls, 2);
  EXPECT_EQ(test.handler.at(0).gone, 0);
}

TEST(Exchange, CallsThatComeTooLateOrTwiceDoNothing) {
  TestServer test;
  RawSocket socket(test.port);
  socket.send(kGet);
  const auto session = test.handler.wait_request(0);
  test.server->respond(session, {200, {}, "one"});
  test.server->respond(session, {200, {}, "two"});
  test.server->end(session);
  test.server->write(SessionId(~0ull), "x");
  test.server->cut(SessionId(63));
  ASSERT_TRUE(socket.read_until("one"));
  socket.send(kGet);
  const auto next = test.handler.wait_request(1);
  EXPECT_NE(next, session);
  test.server->write(session, "stale");
  test.server->cut(session);
  test.server->respond(next, {200, {}, "three"});
  ASSERT_TRUE(socket.read_until("three"));
  EXPECT_EQ(socket.received.find("two"), std::string::npos);
  EXPECT_EQ(socket.received.find("stale"), std::string::npos);
}

TEST(Exchange, CutIsVisibleAsAnError) {
  TestServer test;
  RawSocket chunked(test.port);
  chunked.send(kGet);
  auto session = test.handler.wait_request(0);
  test.server->begin_stream(session, 200, {});
  test.server->write(session, "data: error\n\n");
  test.server->cut(session);
  EXPECT_TRUE(chunked.read_to_end());
  EXPECT_TRUE(chunked.received.ends_with("data: error\n\n\r\n")) << "what was written is offered";

  RawSocket old(test.port);
  old.send("GET / HTTP/1.0\r\n\r\n");
  session = test.handler.wait_request(1);
  test.server->begin_stream(session, 200, {});
  test.server->write(session, "abc");
  ASSERT_TRUE(old.read_until("abc"));
  test.server->cut(session);
  EXPECT_TRUE(old.read_to_end());
  EXPECT_TRUE(old.was_reset()) << "an orderly end would look complete";
  EXPECT_EQ(test.handler.at(0).gone + test.handler.at(1).gone, 0) << "the caller knows";
}

TEST(Exchange, ThreeHundredStreamsAtOnceOnTwoThreads) {
  TestServer test({}, 2);
  constexpr std::size_t kStreams = 300;
  std::vector<std::unique_ptr<RawSocket>> sockets;
  for (std::size_t i = 0; i < kStreams; ++i) {
    sockets.push_back(std::make_unique<RawSocket>(test.port));
    sockets.back()->send(kGet);
  }
  test.handler.wait_request(kStreams - 1);
  std::vector<std::thread> writers;
  for (std::size_t w = 0; w < 3; ++w) {
    writers.emplace_back([&, w] {
      for (std::size_t i = w; i < kStreams; i += 3) {
        const auto session = test.handler.at(i).id;
        test.server->begin_stream(session, 200, {{"content-type", "text/event-stream"}});
      }
      for (int token = 0; token < 20; ++token) {
        for (std::size_t i = w; i < kStreams; i += 3)
          test.server->write(test.handler.at(i).id, std::string("t") + std::to_string(token) + ";");
      }
      for (std::size_t i = w; i < kStreams; i += 3) test.server->end(test.handler.at(i).id);
    });
  }
  for (auto& writer : writers) writer.join();
  for (auto& socket : sockets) {
    ASSERT_TRUE(socket->read_until("0\r\n\r\n"));
    std::size_t at = 0;
    for (int token = 0; token < 20; ++token) {
      at = socket->received.find(std::string("t") + std::to_string(token) + ";", at);
      ASSERT_NE(at, std::string::npos) << "token " << token << " in order";
    }
  }
  EXPECT_EQ(test.server->stats().gone_total, 0u);
}

}  // namespace
}  // namespace troupe::http
