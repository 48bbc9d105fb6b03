// The last word about each request, and the trace that it belongs to.
#include <gtest/gtest.h>

#include "tests/runtime/http/raw_socket.hpp"
#include "tests/runtime/http/recording_handler.hpp"

namespace troupe::http {
namespace {

using How = Ended::How;

TEST(HttpEnded, EachRequestOfAConnectionEndsOnce) {
  TestServer test;
  test.reply_ok();
  RawSocket socket(test.port);
  socket.send(std::string(kGet) + kGet +
              "GET /last HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  EXPECT_TRUE(socket.read_to_end());
  const auto ends = test.handler.wait_ends(3);
  ASSERT_EQ(ends.size(), 3u);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(ends[i].session, test.handler.at(i).id);
    EXPECT_EQ(ends[i].how, How::kAnswered);
    EXPECT_EQ(ends[i].status, 200);
    EXPECT_EQ(ends[i].body_bytes, 2u);
  }
}

TEST(HttpEnded, RefusalsSayWhatTheyRefused) {
  TestServer test(Limits{.header_bytes_max = 4096, .body_bytes_max = 10});
  for (const std::string request :
       {"POST /big HTTP/1.1\r\nhost: a\r\ncontent-length: 11\r\n\r\n", "NONSENSE\r\n\r\n",
        "POST /cut HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc"}) {
    RawSocket socket(test.port);
    socket.send(request);
    socket.half_close();
    EXPECT_TRUE(socket.read_to_end());
  }
  const auto ends = test.handler.wait_ends(3);
  ASSERT_EQ(ends.size(), 3u);
  EXPECT_EQ(ends[0].status, 413);
  EXPECT_EQ(ends[0].path, "/big");
  EXPECT_EQ(ends[0].code, "request_too_large");
  EXPECT_EQ(ends[1].status, 400);
  EXPECT_EQ(ends[1].path, "");
  EXPECT_EQ(ends[2].status, 400);
  EXPECT_EQ(ends[2].path, "/cut");
  for (const auto& end : ends) EXPECT_EQ(end.session, SessionId());
}

TEST(HttpEnded, AClientThatLeftInTheBodyOrTheAnswerIsGone) {
  TestServer test;
  RawSocket body(test.port);
  body.send("POST /body HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n");
  ASSERT_TRUE(body.read_until("100 Continue"));
  body.reset();
  RawSocket answer(test.port);
  EXPECT_EQ(test.handler.wait_ends(1)[0].path, "/body");
  answer.send(kGet);
  const auto session = test.handler.wait_request(0);
  test.server->begin_stream(session, 200, {});
  test.server->write(session, "four");
  ASSERT_TRUE(answer.read_until("four"));
  answer.reset();
  const auto ends = test.handler.wait_ends(2);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].how, How::kGone);
  EXPECT_EQ(ends[0].status, 0);
  EXPECT_EQ(ends[1].how, How::kGone);
  EXPECT_EQ(ends[1].session, session);
  EXPECT_EQ(ends[1].status, 200);
  EXPECT_EQ(ends[1].body_bytes, 4u);
}

TEST(HttpEnded, AnAnswerThatIsCutSaysSo) {
  TestServer test;
  RawSocket socket(test.port);
  socket.send(kGet);
  const auto session = test.handler.wait_request(0);
  test.server->begin_stream(session, 200, {});
  test.server->cut(session);
  EXPECT_TRUE(socket.read_to_end());
  const auto ends = test.handler.wait_ends(1);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].how, How::kCut);
}

constexpr const char* kCaller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

ServerOptions tracing() {
  ServerOptions options;
  options.trace_seed = 7;
  return options;
}

std::string answer_to(TestServer& test, const std::string& fields) {
  RawSocket socket(test.port);
  socket.send("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n" + fields + "\r\n");
  EXPECT_TRUE(socket.read_to_end());
  return socket.received;
}

TEST(HttpTrace, ACallersTraceGoesOnWithASpanOfOurs) {
  TestServer test(tracing());
  test.reply_ok();
  const std::string answer = answer_to(test, std::string("traceparent: ") + kCaller + "\r\n");
  const TraceContext trace = test.handler.at(0).request.trace;
  EXPECT_EQ(trace_id_text(trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(trace.parent, 0x00f067aa0ba902b7u);
  EXPECT_NE(trace.span, trace.parent);
  EXPECT_TRUE(trace.sampled);
  EXPECT_NE(answer.find("traceparent: " + to_traceparent(trace) + "\r\n"), std::string::npos);
}

TEST(HttpTrace, BrokenDoubleOrNoHeadersBeginANewTrace) {
  TestServer test(tracing());
  test.reply_ok();
  const std::string field = std::string("traceparent: ") + kCaller;
  const std::string broken[] = {"", field + "0\r\n", field + "\r\n" + field + "\r\n"};
  std::vector<TraceContext> traces;
  for (const auto& fields : broken) {
    answer_to(test, fields);
    traces.push_back(test.handler.at(traces.size()).request.trace);
  }
  for (const auto& trace : traces) {
    ASSERT_TRUE(trace);
    EXPECT_NE(trace_id_text(trace), "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(trace.parent, 0u);
    EXPECT_FALSE(trace.sampled);
  }
  EXPECT_NE(trace_id_text(traces[0]), trace_id_text(traces[1]));
}

TEST(HttpTrace, RefusalsBelongToTheTraceToo) {
  ServerOptions options = tracing();
  options.limits.body_bytes_max = 1;
  TestServer test(options);
  RawSocket socket(test.port);
  socket.send(std::string("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ntraceparent: ") +
              kCaller + "\r\n\r\n");
  EXPECT_TRUE(socket.read_to_end());
  const auto ends = test.handler.wait_ends(1);
  EXPECT_EQ(trace_id_text(ends.at(0).trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_NE(socket.received.find(to_traceparent(ends.at(0).trace)), std::string::npos);
}

}  // namespace
}  // namespace troupe::http
