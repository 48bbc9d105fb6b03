// Framing and accounting of answers, with sockets that take any number of bytes at a time.
#include "runtime/http/answer_writer.hpp"

#include <gtest/gtest.h>

namespace troupe::http {
namespace {

/// Writes all that is queued, at most `step` bytes at a time.
std::string drain(AnswerWriter& writer, std::size_t step = 1u << 20) {
  std::string out;
  while (true) {
    const auto pieces = writer.next();
    std::string flush;
    for (const auto& piece : pieces) flush += piece;
    if (flush.empty()) return out;
    flush.resize(std::min(step, flush.size()));
    out += flush;
    writer.wrote(flush.size());
  }
}

std::string body_of(const std::string& bytes) {
  return bytes.substr(bytes.find("\r\n\r\n") + 4);
}

TEST(AnswerWriter, WholeAnswerHasALength) {
  AnswerWriter writer;
  writer.start_exchange({});
  writer.respond({200, {{"x-id", "1\r\nevil: 2"}, {"content-length", "9"}}, "hello"});
  const auto bytes = drain(writer, 3);
  EXPECT_TRUE(bytes.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_NE(bytes.find("x-id: 1  evil: 2\r\n"), std::string::npos) << "no header injection";
  EXPECT_NE(bytes.find("content-length: 5\r\n\r\nhello"), std::string::npos);
  EXPECT_EQ(bytes.find("content-length: 9"), std::string::npos);
  EXPECT_TRUE(writer.complete());
  EXPECT_EQ(writer.payload_written(), 5u);
}

TEST(AnswerWriter, PiecesOfOneFlushAreOneChunk) {
  AnswerWriter writer;
  writer.start_exchange({});
  writer.begin(200, {});
  const auto head = drain(writer);
  EXPECT_NE(head.find("transfer-encoding: chunked\r\n"), std::string::npos);
  writer.write("abc");
  writer.write("defghijklmnop");
  EXPECT_EQ(drain(writer), "10\r\nabcdefghijklmnop\r\n");
  EXPECT_FALSE(writer.complete());
  writer.write("x");
  writer.end();
  EXPECT_EQ(drain(writer), "1\r\nx\r\n0\r\n\r\n");
  EXPECT_TRUE(writer.complete());
}

TEST(AnswerWriter, CountsPayloadByTheByte) {
  AnswerWriter writer;
  writer.start_exchange({});
  writer.begin(200, {});
  drain(writer);
  writer.write("0123456789");
  (void)writer.next();
  writer.wrote(3);  // "a\r\n"
  EXPECT_EQ(writer.payload_written(), 0u);
  writer.wrote(4);
  EXPECT_EQ(writer.payload_written(), 4u);
  writer.write("abc");
  EXPECT_EQ(writer.outstanding(), 9u);
  writer.end();
  EXPECT_EQ(drain(writer, 1), "456789\r\n3\r\nabc\r\n0\r\n\r\n");
  EXPECT_EQ(writer.payload_written(), 13u);
}

TEST(AnswerWriter, ProbesAreInvisible) {
  AnswerWriter writer;
  writer.start_exchange({});
  ASSERT_TRUE(writer.can_probe());
  writer.probe();
  EXPECT_EQ(drain(writer), "HTTP/1.1 100 Continue\r\n\r\n");
  writer.begin(200, {});
  EXPECT_FALSE(writer.can_probe()) << "the head is still to go";
  drain(writer);
  writer.probe();
  EXPECT_EQ(drain(writer), "0");
  writer.write("abc");
  EXPECT_EQ(drain(writer), "3\r\nabc\r\n") << "together: 03";
  writer.probe();
  writer.end();
  EXPECT_EQ(drain(writer), "00\r\n\r\n");
}

TEST(AnswerWriter, BodilessAnswers) {
  AnswerWriter writer;
  writer.start_exchange({.head = true});
  writer.respond({200, {}, "hello"});
  EXPECT_NE(drain(writer).find("content-length: 5\r\n\r\n"), std::string::npos);
  writer.start_exchange({});
  writer.respond({204, {}, ""});
  EXPECT_EQ(drain(writer).find("content-length"), std::string::npos);
  writer.start_exchange({.head = true});
  writer.begin(200, {});
  writer.write("abc");
  writer.end();
  EXPECT_EQ(body_of(drain(writer)), "");
  EXPECT_TRUE(writer.complete());
  EXPECT_EQ(writer.payload_written(), 3u);
}

TEST(AnswerWriter, OldClientsGetTheirForms) {
  AnswerWriter writer;
  writer.start_exchange({.http10 = true, .keep_alive = true});
  EXPECT_FALSE(writer.can_probe());
  writer.respond({200, {}, "a"});
  EXPECT_NE(drain(writer).find("connection: keep-alive\r\n"), std::string::npos);
  writer.start_exchange({.http10 = true, .keep_alive = true});
  writer.begin(200, {});
  writer.write("abc");
  writer.end();
  const auto bytes = drain(writer);
  EXPECT_NE(bytes.find("connection: close\r\n"), std::string::npos);
  EXPECT_EQ(body_of(bytes), "abc");
  EXPECT_TRUE(writer.until_close());
}

}  // namespace
}  // namespace troupe::http
