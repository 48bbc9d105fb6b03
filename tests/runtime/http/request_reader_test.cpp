// Requests out of bytes, however they are split, and everything that must be refused.
#include "runtime/http/request_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace troupe::http {
namespace {

using Stage = RequestReader::Stage;

RequestReader make_reader(std::size_t body_bytes_max = 1024 * 1024) {
  static ByteBudget bodies(64 * 1024 * 1024);
  return RequestReader(16 * 1024, body_bytes_max, bodies);
}

/// Feeds in pieces of `step` bytes; returns what was left after the request.
std::string feed_split(RequestReader& reader, std::string_view bytes, std::size_t step) {
  while (!bytes.empty() && reader.stage() != Stage::kDone && reader.stage() != Stage::kRefused) {
    std::string_view piece = bytes.substr(0, step);
    while (!piece.empty()) {
      const auto taken = reader.feed(piece);
      if (taken == 0) return std::string(bytes);
      piece.remove_prefix(taken);
      bytes.remove_prefix(taken);
    }
  }
  return std::string(bytes);
}

int status_of(const std::string& bytes, std::size_t step = 1u << 20) {
  auto reader = make_reader();
  feed_split(reader, bytes, step);
  return reader.stage() == Stage::kRefused ? reader.refusal().status : 0;
}

TEST(RequestReader, SplitAnywhereGivesTheSameRequest) {
  const std::string chunked =
      "\r\nPOST http://h/v1/chat?a=b HTTP/1.1\r\nHost: a\r\nX-Name:  v w \r\n"
      "Transfer-Encoding: chunked\r\n\r\n1b;x=y\r\n{\"model\":\"m\",\"messages\":[{\"\r\n"
      "1e\r\nrole\":\"user\",\"content\":\"hi\"}]}\r\n0\r\nTrailer: v\r\n\r\nGET /next";
  for (std::size_t step = 1; step <= chunked.size(); ++step) {
    auto reader = make_reader();
    const auto left = feed_split(reader, chunked, step);
    ASSERT_EQ(reader.stage(), Stage::kDone) << "step " << step;
    EXPECT_EQ(left, "GET /next");
    const Request request = reader.take();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/v1/chat");
    EXPECT_EQ(request.query, "a=b");
    EXPECT_EQ(find_header(request.headers, "x-name"), "v w");
    EXPECT_EQ(find_header(request.headers, "trailer"), "");
    EXPECT_EQ(request.body,
              "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
    reader.reset();
    EXPECT_EQ(reader.stage(), Stage::kEmpty);
  }
}

TEST(RequestReader, ABodyMayHoldAnyBytesInWhateverPieceItComes) {
  const std::string body("{\n\"a\":\n1}\r\n\r\n\0\x80", 15);
  const std::string bytes =
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" +
      body;
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    auto reader = make_reader();
    feed_split(reader, bytes, step);
    ASSERT_EQ(reader.stage(), Stage::kDone) << "step " << step;
    EXPECT_EQ(reader.take().body, body);
  }
}

TEST(RequestReader, ABareCrBeforeARequestIsRefusedHoweverItIsCut) {
  for (const std::size_t step : {1, 2, 3, 100}) {
    EXPECT_EQ(status_of("\r\n\rGET / HTTP/1.1\r\nhost: a\r\n\r\n", step), 400) << step;
  }
}

TEST(RequestReader, StopsBetweenHeadAndBody) {
  auto reader = make_reader();
  const std::string bytes =
      "PUT /a HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\nabc";
  const auto taken = reader.feed(bytes);
  EXPECT_EQ(taken, bytes.size() - 3);
  ASSERT_EQ(reader.stage(), Stage::kBody);
  EXPECT_TRUE(reader.wants_continue());
  EXPECT_EQ(reader.feed("abc"), 3u);
  ASSERT_EQ(reader.stage(), Stage::kDone);
  EXPECT_EQ(reader.take().body, "abc");
}

TEST(RequestReader, KeepAliveFollowsVersionAndHeader) {
  const auto keep = [](const std::string& bytes) {
    auto reader = make_reader();
    reader.feed(bytes);
    return reader.keep_alive();
  };
  EXPECT_TRUE(keep("GET / HTTP/1.1\r\nhost: a\r\n\r\n"));
  EXPECT_FALSE(keep("GET / HTTP/1.1\r\nhost: a\r\nconnection: Close\r\n\r\n"));
  EXPECT_FALSE(keep("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keep("GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n"));
}

struct Abuse {
  const char* name;
  std::string bytes;
  int status;
};

std::vector<Abuse> abuses() {
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n";
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  return {
      {"length and chunked", post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"chunked and length", post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n", 400},
      {"two lengths", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 400},
      {"same length twice", post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", 400},
      {"length list", post + "Content-Length: 5,5\r\n\r\n", 400},
      {"negative length", post + "Content-Length: -1\r\n\r\n", 400},
      {"plus length", post + "Content-Length: +5\r\n\r\n", 400},
      {"hex length", post + "Content-Length: 0x5\r\n\r\n", 400},
      {"empty length", post + "Content-Length:\r\n\r\n", 400},
      {"huge length", post + "Content-Length: 99999999999999999999\r\n\r\n", 400},
      {"length over the limit", post + "Content-Length: 1048577\r\n\r\n", 413},
      {"xchunked", post + "Transfer-Encoding: xchunked\r\n\r\n", 400},
      {"gzip, chunked", post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 400},
      {"chunked twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"chunked in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"space before colon", post + "Content-Length : 5\r\n\r\n", 400},
      {"obs-fold", get + "X: a\r\n b\r\n\r\n", 400},
      {"bare LF", "GET / HTTP/1.1\nHost: a\n\n", 400},
      {"bare LF in a field", get + "X: a\nY: b\r\n\r\n", 400},
      {"bare CR in a field", get + "X: a\rY: b\r\n\r\n", 400},
      {"NUL in a value", get + std::string("X: a\0b\r\n\r\n", 10), 400},
      {"NUL in a name", get + std::string("X\0: a\r\n\r\n", 9), 400},
      {"control in a value", get + "X: a\x01\r\n\r\n", 400},
      {"no colon", get + "nocolon\r\n\r\n", 400},
      {"empty name", get + ": a\r\n\r\n", 400},
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two hosts", get + "Host: b\r\n\r\n", 400},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"HTTP/0.9", "GET /\r\n\r\n", 400},
      {"lower-case version", "GET / http/1.1\r\nHost: a\r\n\r\n", 400},
      {"two spaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"space in target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"relative target", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"TLS hello", std::string("\x16\x03\x01\x02\x00\x01\x00\x01", 8), 400},
      {"CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {"TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {"type without length", post + "Content-Type: application/json\r\n\r\n", 411},
      {"long target", "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"long header", get + "X: " + std::string(20000, 'a') + "\r\n\r\n", 431},
      {"coding", post + "Content-Encoding: br\r\nContent-Length: 1\r\n\r\n", 415},
      {"two codings", post + "Content-Encoding: gzip, zstd\r\nContent-Length: 1\r\n\r\n", 415},
      {"two encoding fields",
       post + "Content-Encoding: gzip\r\nContent-Encoding: identity\r\nContent-Length: 1\r\n\r\n",
       415},
      {"other expectation", post + "Expect: 200-ok\r\nContent-Length: 1\r\n\r\n", 417},
      {"bad chunk size", post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"negative chunk size", post + "Transfer-Encoding: chunked\r\n\r\n-5\r\nabcde\r\n", 400},
      {"chunk without CRLF", post + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcde\r\n0\r\n\r\n",
       400},
      {"chunk bare LF", post + "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", 400},
      {"chunk size overflow", post + "Transfer-Encoding: chunked\r\n\r\n11111111111111111\r\n",
       400},
      {"chunk over the limit", post + "Transfer-Encoding: chunked\r\n\r\n100001\r\n", 413},
  };
}

TEST(RequestReader, RefusesAbuseHoweverItIsSplit) {
  for (const auto& abuse : abuses()) {
    EXPECT_EQ(status_of(abuse.bytes), abuse.status) << abuse.name;
    EXPECT_EQ(status_of(abuse.bytes, 1), abuse.status) << abuse.name << ", byte by byte";
    EXPECT_EQ(status_of(abuse.bytes, 7), abuse.status) << abuse.name << ", 7 bytes";
  }
}

TEST(RequestReader, RefusesManyFieldsAndEndlessChunkExtensions) {
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 200; ++i) many += "x: y\r\n";
  EXPECT_EQ(status_of(many + "\r\n"), 431);
  const std::string extension =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;";
  EXPECT_EQ(status_of(extension + std::string(200'000, 'x'), 1000), 400);
}

TEST(RequestReader, CountsManySmallChunksAgainstTheLimit) {
  auto reader = make_reader(1000);
  std::string bytes = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 101; ++i) bytes += "a\r\n0123456789\r\n";
  feed_split(reader, bytes, 11);
  ASSERT_EQ(reader.stage(), Stage::kRefused);
  EXPECT_EQ(reader.refusal().status, 413);
}

TEST(RequestReader, TooLargeIsSaidHoweverMuchArrivesWithTheChunkThatPassesTheLimit) {
  std::string upload = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 200; ++i) upload += "2710\r\n" + std::string(10'000, 'x') + "\r\n";
  for (std::size_t step = 60'000; step < 400'000; step += 1'777)
    EXPECT_EQ(status_of(upload, step), 413) << "step " << step;
}

TEST(RequestReader, AcceptsWhatIsUnusualButRight) {
  const std::vector<std::string> good = {
      "POST /drain HTTP/1.1\r\nHost: a\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nhOsT:\r\n\r\n",
      "GET /a%2Fb?x=%00 HTTP/1.1\r\nHost: a\r\nX: \xc3\xa9\ttab\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: identity\r\nContent-Length: 0\r\n\r\n",
  };
  for (const auto& bytes : good) {
    auto reader = make_reader();
    EXPECT_EQ(feed_split(reader, bytes, 5), "");
    EXPECT_EQ(reader.stage(), Stage::kDone) << bytes;
  }
}

}  // namespace
}  // namespace troupe::http
