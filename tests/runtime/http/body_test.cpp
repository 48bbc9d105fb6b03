// Request bodies over real sockets: compressed ones, and all open ones within their common budget.
#include <gtest/gtest.h>

#include "tests/runtime/http/encode_body.hpp"
#include "tests/runtime/http/raw_socket.hpp"
#include "tests/runtime/http/recording_handler.hpp"

namespace troupe::http {
namespace {

std::string post(std::string_view coding, std::string_view body) {
  return "POST /x HTTP/1.1\r\nhost: a\r\ncontent-encoding: " + std::string(coding) +
         "\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

TEST(Body, CompressedBodiesAreDecoded) {
  TestServer test;
  test.reply_ok();
  const std::string body = "{\"text\":\"" + std::string(300'000, 'y') + "\"}";
  RawSocket socket(test.port);
  std::size_t i = 0;
  for (const auto& [coding, bytes] : {std::pair<const char*, std::string>{"gzip", gzip(body)},
                                      {"deflate", zlib_encoded(body, 15)},
                                      {"zstd", zstd(body)}}) {
    socket.received.clear();
    socket.send(post(coding, bytes));
    ASSERT_TRUE(socket.read_until("\r\n\r\nok")) << coding;
    const auto exchange = test.handler.at(i++);
    EXPECT_EQ(exchange.request.body, body) << coding;
    EXPECT_EQ(find_header(exchange.request.headers, "content-encoding"), "");
  }
}

TEST(Body, CompressedAndChunkedAtOnce) {
  TestServer test;
  test.reply_ok();
  RawSocket socket(test.port);
  socket.send(
      "POST /x HTTP/1.1\r\nhost: a\r\ncontent-encoding: gzip\r\ntransfer-encoding: "
      "chunked\r\n\r\n");
  for (const char c : gzip("hello")) socket.send("1\r\n" + std::string(1, c) + "\r\n");
  socket.send("0\r\n\r\n");
  ASSERT_TRUE(socket.read_until("\r\n\r\nok"));
  EXPECT_EQ(test.handler.at(0).request.body, "hello");
}

TEST(Body, ABombIsRefusedAndItsMemoryGivenBack) {
  TestServer test(Limits{.body_bytes_max = 1'000'000});
  RawSocket socket(test.port);
  socket.send(post("gzip", gzip(std::string(100'000'000, '\0'))));
  EXPECT_TRUE(socket.read_to_end());
  EXPECT_EQ(socket.status(), 413) << socket.received;
  EXPECT_EQ(test.handler.count(), 0u);
  EXPECT_EQ(test.server->stats().body_bytes_held, 0u);
}

TEST(Body, ABodyThatMeansMuchHoldsUpNobodyAndArrivesWhole) {
  TestServer test(Limits{.body_bytes_max = 64'000'000});
  test.reply_ok();
  const std::string body(50'000'000, 'z');
  RawSocket large(test.port);
  // Two requests at once: what follows the large body waits for it, and nobody else does.
  large.send(post("zstd", zstd(body)) + "GET /after HTTP/1.1\r\nhost: a\r\n\r\n");
  RawSocket other(test.port);
  other.send("GET /other HTTP/1.1\r\nhost: a\r\n\r\n");
  ASSERT_TRUE(other.read_until("\r\n\r\nok"));
  ASSERT_TRUE(large.read_until("\r\n\r\nok"));
  ASSERT_TRUE(test.handler.wait([&] { return test.handler.index_of("/after") >= 0; }));
  EXPECT_LT(test.handler.index_of("/other"), test.handler.index_of("/x"));
  EXPECT_LT(test.handler.index_of("/x"), test.handler.index_of("/after"));
  const auto exchange = test.handler.at(static_cast<std::size_t>(test.handler.index_of("/x")));
  EXPECT_EQ(exchange.request.body, body);
}

TEST(Body, UnknownCodingsAreToldWhatIsKnown) {
  TestServer test;
  RawSocket socket(test.port);
  socket.send(post("br", "xyz"));
  EXPECT_TRUE(socket.read_to_end());
  EXPECT_EQ(socket.status(), 415);
  EXPECT_NE(socket.received.find("accept-encoding: gzip, deflate, zstd\r\n"), std::string::npos);
}

TEST(Body, AllOpenBodiesAreBoundedTogether) {
  TestServer test(Limits{.bodies_bytes_max = 600'000});
  const std::string body(400'000, 'x');
  RawSocket holds(test.port);
  holds.send(post("identity", body));
  const auto session = test.handler.wait_request(0);
  EXPECT_GE(test.server->stats().body_bytes_held, 400'000u);
  RawSocket over(test.port);
  over.send(post("identity", body));
  EXPECT_TRUE(over.read_to_end());
  EXPECT_EQ(over.status(), 503);
  EXPECT_NE(over.received.find("retry-after: 1\r\n"), std::string::npos);
  // Whoever kept the body gives its bytes back, whether the answer is out or not.
  test.handler.forget_body(0);
  EXPECT_EQ(test.server->stats().body_bytes_held, 0u);
  test.server->respond(session, {200, {}, "ok"});
  ASSERT_TRUE(holds.read_until("\r\n\r\nok"));
  test.reply_ok();
  RawSocket again(test.port);
  again.send(post("identity", body));
  EXPECT_TRUE(again.read_until("\r\n\r\nok"));
}

TEST(Body, ABodyThatFitsIsTakenInWhateverPieces) {
  TestServer test(Limits{.bodies_bytes_max = 600'000});
  test.reply_ok();
  RawSocket client(test.port);
  const std::string request = post("identity", std::string(500'000, 'x'));
  for (std::size_t at = 0; at < request.size(); at += 90'000) {
    client.send(request.substr(at, 90'000));
    usleep(20'000);  // a packet of its own
  }
  EXPECT_TRUE(client.read_until("\r\n\r\nok"));
}

TEST(Body, AClientThatLeavesGivesItsBytesBack) {
  TestServer test;
  {
    RawSocket leaves(test.port);
    leaves.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 900000\r\n\r\n" +
                std::string(500'000, 'x'));
    while (test.server->stats().body_bytes_held < 500'000) usleep(1000);
    leaves.reset();
  }
  for (int i = 0; i < 5000 && test.server->stats().body_bytes_held > 0; ++i) usleep(1000);
  EXPECT_EQ(test.server->stats().body_bytes_held, 0u);
}

}  // namespace
}  // namespace troupe::http
