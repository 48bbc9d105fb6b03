#include "actors/gateway/request_timeout.hpp"

#include "tests/actors/gateway/gateway_driver.hpp"

namespace troupe {
namespace {

Result<Duration> asked(const std::string& value) {
  return request_timeout({{"host", "a"}, {"x-request-timeout-ms", value}}, seconds(600));
}

TEST(RequestTimeout, IsWhatTheClientAsksWithinTheLimit) {
  EXPECT_EQ(*request_timeout({}, seconds(600)), seconds(600));
  EXPECT_EQ(*asked("1"), milliseconds(1));
  EXPECT_EQ(*asked("2500"), milliseconds(2500));
  EXPECT_EQ(*asked("600000"), seconds(600));
  EXPECT_EQ(*asked("99999999999999999999999"), seconds(600)) << "the server's limit holds";
}

TEST(RequestTimeout, WhatIsNoNumberIsRefused) {
  for (const std::string bad : {"", "0", "-1", "+5", "1.5", "5s", " 5", "0x10", "five"}) {
    const auto timeout = asked(bad);
    ASSERT_FALSE(timeout.ok()) << bad;
    EXPECT_NE(timeout.error().message.find("x-request-timeout-ms"), std::string::npos);
  }
  EXPECT_FALSE(
      request_timeout({{"x-request-timeout-ms", "5"}, {"x-request-timeout-ms", "6"}}, seconds(9))
          .ok());
}

TEST(RequestTimeout, TheGatewayRefusesAWrongOneBeforeItCounts) {
  GatewayDriver gateway;
  gateway.ready();
  const auto answer =
      gateway.answer(gateway.asks("POST", "/v1/messages", {{"x-request-timeout-ms", "soon"}}));
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("invalid_request_error"), std::string::npos);
  EXPECT_EQ(gateway.driver.core().live_requests(), 0u);
}

TEST(RequestTimeout, ARequestLivesNoLonger) {
  GatewayDriver gateway;
  gateway.ready();
  const Turn turn = gateway.asks("POST", "/v1/chat/completions", {{"x-request-timeout-ms", "250"}});
  const auto spawned = turn.all<effect::Spawn>();
  ASSERT_EQ(spawned.size(), 1u);
  const auto* args = static_cast<const RequestCore::Args*>(spawned[0].args.get());
  EXPECT_EQ(args->timeout, milliseconds(250));
}

}  // namespace
}  // namespace troupe
