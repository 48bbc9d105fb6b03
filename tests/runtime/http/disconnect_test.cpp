// Clients that leave, in every stage: noticed within 50 ms, told exactly once.
#include <gtest/gtest.h>

#include <thread>

#include "tests/runtime/http/raw_socket.hpp"
#include "tests/runtime/http/recording_handler.hpp"

namespace troupe::http {
namespace {

using std::chrono::milliseconds;

/// The bound of the project; sanitizers slow everything down.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr milliseconds kNoticed{500};
#else
constexpr milliseconds kNoticed{50};
#endif
#else
constexpr milliseconds kNoticed{50};
#endif

enum class Stage { kWaiting, kBegun, kStreaming, kBlocked, kPipelined };
constexpr Stage kStages[] = {Stage::kWaiting, Stage::kBegun, Stage::kStreaming, Stage::kBlocked,
                             Stage::kPipelined};

/// Brings a session into the stage; the socket has read nothing in kBlocked.
void enter(TestServer& test, RawSocket& socket, Stage stage) {
  socket.send(kGet);
  const auto session = test.handler.wait_request(0);
  if (stage == Stage::kPipelined) socket.send(kGet);
  if (stage == Stage::kWaiting || stage == Stage::kPipelined) return;
  test.server->begin_stream(session, 200, {});
  ASSERT_TRUE(socket.read_until("\r\n\r\n"));
  if (stage == Stage::kStreaming) {
    test.server->write(session, "abc");
    ASSERT_TRUE(socket.read_until("abc\r\n"));
  }
  if (stage == Stage::kBlocked) {
    for (int i = 0; i < 900; ++i) test.server->write(session, std::string(1024, 'x'));
    std::this_thread::sleep_for(milliseconds(30));
  }
}

class Disconnect : public ::testing::TestWithParam<Stage> {};

void check_gone(TestServer& test) {
  EXPECT_TRUE(test.handler.wait_gone(0, kNoticed));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(test.handler.at(0).gone, 1);
  EXPECT_EQ(test.handler.count(), 1u) << "no exchange after the client left";
  const auto stats = test.server->stats();
  EXPECT_EQ(stats.gone_total, 1u);
  EXPECT_EQ(stats.exchanges_open, 0u);
  EXPECT_EQ(stats.connections_open, 0u);
}

TEST_P(Disconnect, CloseIsNoticed) {
  TestServer test(Limits{.send_buffer_bytes = 16 * 1024});
  RawSocket socket(test.port, GetParam() == Stage::kBlocked ? 4096 : 0);
  enter(test, socket, GetParam());
  socket.close();
  check_gone(test);
}

TEST_P(Disconnect, ResetIsNoticed) {
  TestServer test(Limits{.send_buffer_bytes = 16 * 1024});
  RawSocket socket(test.port, GetParam() == Stage::kBlocked ? 4096 : 0);
  enter(test, socket, GetParam());
  socket.reset();
  check_gone(test);
}

INSTANTIATE_TEST_SUITE_P(Stages, Disconnect, ::testing::ValuesIn(kStages));

TEST(DisconnectEarly, WithinTheRequestNothingIsHandedOut) {
  TestServer test;
  for (const std::string part :
       {"", "GET", "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc"}) {
    RawSocket closes(test.port);
    closes.send(part);
    closes.close();
    RawSocket resets(test.port);
    resets.send(part);
    resets.reset();
  }
  for (int i = 0; i < 100 && test.server->stats().connections_open > 0; ++i)
    std::this_thread::sleep_for(milliseconds(10));
  const auto stats = test.server->stats();
  EXPECT_EQ(stats.connections_open, 0u);
  EXPECT_EQ(stats.requests_total, 0u);
  EXPECT_EQ(test.handler.count(), 0u);
}

TEST(DisconnectEarly, EndWithinTheRequestIsAnsweredForTheHalfClosed) {
  TestServer test;
  RawSocket socket(test.port);
  socket.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc");
  socket.half_close();
  EXPECT_TRUE(socket.read_to_end());
  EXPECT_EQ(socket.status(), 400);
}

TEST(DisconnectOld, AHalfClosedOldClientGetsItsWholeAnswer) {
  TestServer test;
  for (const bool streamed : {false, true}) {
    RawSocket socket(test.port);
    socket.send("GET / HTTP/1.0\r\n\r\n");
    socket.half_close();
    const auto session = test.handler.wait_request(streamed ? 1 : 0);
    std::this_thread::sleep_for(milliseconds(50));
    const std::string body(200'000, 'x');
    if (streamed) {
      test.server->begin_stream(session, 200, {});
      test.server->write(session, body);
      test.server->end(session);
    } else {
      test.server->respond(session, {200, {}, body});
    }
    EXPECT_TRUE(socket.read_to_end());
    EXPECT_FALSE(socket.was_reset());
    EXPECT_TRUE(socket.received.ends_with(body));
  }
  EXPECT_EQ(test.server->stats().gone_total, 0u);
}

TEST(DisconnectOld, AnOldClientThatClosedIsNoticedByTheFirstBytes) {
  TestServer test;
  RawSocket socket(test.port);
  socket.send("GET / HTTP/1.0\r\n\r\n");
  const auto session = test.handler.wait_request(0);
  socket.close();
  test.server->begin_stream(session, 200, {});
  check_gone(test);
}

TEST(DisconnectLate, NoGoneAfterTheAnswerIsOut) {
  TestServer test;
  test.reply_ok();
  RawSocket socket(test.port);
  socket.send(kGet);
  ASSERT_TRUE(socket.read_until("\r\n\r\nok"));
  socket.reset();
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(test.handler.at(0).gone, 0);
  EXPECT_EQ(test.server->stats().connections_open, 0u);
}

TEST(DisconnectLate, AnswersToALostClientAreHarmless) {
  TestServer test;
  RawSocket socket(test.port);
  socket.send(kGet);
  const auto session = test.handler.wait_request(0);
  socket.reset();
  test.server->begin_stream(session, 200, {});
  for (int i = 0; i < 100; ++i) test.server->write(session, "data");
  test.server->end(session);
  EXPECT_TRUE(test.handler.wait([&] { return test.server->stats().exchanges_open == 0; }));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_LE(test.handler.at(0).gone, 1);
}

}  // namespace
}  // namespace troupe::http
