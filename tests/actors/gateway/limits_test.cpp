// What each tenant may use: the bucket, its requests at one time, its share of a full gateway.
#include "actors/gateway/admission.hpp"
#include "tests/actors/gateway/gateway_driver.hpp"

namespace troupe {
namespace {

using Outcome = Admission::Outcome;

Admission with(std::vector<TenantLimits> tenants) {
  return Admission(std::move(tenants));
}

Time at(double s) {
  return Time() + from_seconds(s);
}

TEST(Admission, AMinutesRequestsAtOnceThenOneAtATime) {
  Admission admission = with({{.name = "a", .requests_per_minute = 30}});
  for (std::uint32_t i = 0; i < 30; ++i) {
    const auto verdict = admission.admit("a", at(100));
    ASSERT_EQ(verdict.outcome, Outcome::kAdmitted) << i;
    EXPECT_EQ(verdict.remaining, 29 - i);
  }
  const auto refused = admission.admit("a", at(100.5));
  EXPECT_EQ(refused.outcome, Outcome::kRate);
  EXPECT_EQ(refused.retry_after, milliseconds(1500));
  EXPECT_EQ(admission.admit("a", at(101.999)).outcome, Outcome::kRate);
  EXPECT_EQ(admission.admit("a", at(102)).outcome, Outcome::kAdmitted);
  EXPECT_EQ(admission.admit("a", at(102)).outcome, Outcome::kRate);
  EXPECT_EQ(admission.admit("a", at(300)).remaining, 29u) << "full again, and no fuller";
}

TEST(Admission, AnyRateAdmitsExactlyItselfInAMinute) {
  for (const std::uint32_t rate : {1u, 7u, 59u, 600u, 999'983u}) {
    Admission admission = with({{.name = "a", .requests_per_minute = rate}});
    std::uint32_t admitted = 0;
    while (admission.admit("a", at(1)).outcome == Outcome::kAdmitted) ++admitted;
    EXPECT_EQ(admitted, rate);
  }
}

TEST(Admission, ConcurrentRequestsEndTheirPlaces) {
  Admission admission = with({{.name = "a", .requests_per_minute = 60, .concurrent = 2}});
  EXPECT_EQ(admission.admit("a", at(0)).outcome, Outcome::kAdmitted);
  EXPECT_EQ(admission.admit("a", at(0)).remaining, 58u);
  const auto refused = admission.admit("a", at(0));
  EXPECT_EQ(refused.outcome, Outcome::kConcurrent);
  EXPECT_EQ(refused.remaining, 58u) << "a refusal uses nothing up";
  admission.release("a");
  EXPECT_EQ(admission.admit("a", at(0)).outcome, Outcome::kAdmitted);
}

TEST(Admission, TenantsDoNotShare) {
  Admission admission = with({{.name = "a", .concurrent = 1}, {.name = "b", .concurrent = 1}});
  EXPECT_EQ(admission.admit("a", at(0)).outcome, Outcome::kAdmitted);
  EXPECT_EQ(admission.admit("b", at(0)).outcome, Outcome::kAdmitted);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(admission.admit("", at(0)).outcome, Outcome::kAdmitted);
  admission.release("");
}

TEST(Admission, TheLastPlacesAreForHighPriority) {
  const Admission admission = with({{.name = "low", .priority = Priority::kLow},
                                    {.name = "normal"},
                                    {.name = "high", .priority = Priority::kHigh}});
  EXPECT_EQ(admission.room("low", 100), 50u);
  EXPECT_EQ(admission.room("normal", 100), 90u);
  EXPECT_EQ(admission.room("high", 100), 100u);
  EXPECT_EQ(with({{.name = "normal"}}).room("normal", 100), 100u) << "nobody to reserve for";
  EXPECT_EQ(admission.room("low", 1), 1u);
}

TEST(Admission, HeadersInEachProtocolsWords) {
  const Admission::Verdict verdict{.outcome = Outcome::kRate,
                                   .retry_after = milliseconds(1500),
                                   .limit = 60,
                                   .remaining = 0,
                                   .full_in = milliseconds(59'500)};
  SessionRespond chat = too_many_requests(7, verdict, recipe::Protocol::kChat, 1'709'164'799);
  EXPECT_EQ(chat.exchange, 7u);
  EXPECT_EQ(chat.status, 429);
  EXPECT_EQ(header(chat, "retry-after"), "2");
  EXPECT_EQ(header(chat, "retry-after-ms"), "1500");
  EXPECT_EQ(header(chat, "x-ratelimit-limit-requests"), "60");
  EXPECT_EQ(header(chat, "x-ratelimit-remaining-requests"), "0");
  EXPECT_EQ(header(chat, "x-ratelimit-reset-requests"), "59.50s");
  EXPECT_NE(chat.body.find("\"code\":\"rate_limit_exceeded\""), std::string::npos) << chat.body;
  EXPECT_NE(chat.body.find("try again in 1.50s"), std::string::npos) << chat.body;
  SessionRespond messages =
      too_many_requests(7, verdict, recipe::Protocol::kMessages, 1'709'164'799);
  EXPECT_EQ(messages.status, 429);
  EXPECT_NE(messages.body.find("\"type\":\"rate_limit_error\""), std::string::npos);
  // 2024-02-28T23:59:59Z and 60 s.
  EXPECT_EQ(header(messages, "anthropic-ratelimit-requests-reset"), "2024-02-29T00:00:59Z");
}

TEST(Admission, TheGatewayCountsARequestUntilItsEnd) {
  GatewayCore::Args args = GatewayDriver::args();
  args.tenants = {{.name = "a", .requests_per_minute = 600, .concurrent = 1}};
  CoreDriver<GatewayCore> driver(args, actor(1));
  driver.starts();
  driver.hears(StreamsStarted{actor(30)}, from(actor(40)));
  RankJoined rank;
  rank.rank = actor(51);
  rank.models = {"m"};
  rank.capacity = 4;
  driver.hears(rank, from(actor(40)));
  HttpArrived arrived;
  arrived.session = actor(20);
  arrived.method = "POST";
  arrived.path = "/v1/messages";
  arrived.tenant = "a";
  const Turn first = driver.hears(arrived, from(actor(20)));
  ASSERT_EQ(first.all<effect::Spawn>().size(), 1u);
  const auto* born =
      static_cast<const RequestCore::Args*>(first.all<effect::Spawn>()[0].args.get());
  EXPECT_EQ(born->headers.at(0).first, "anthropic-ratelimit-requests-limit");
  EXPECT_EQ(first.metric("troupe_tenant_requests_total"), 1.0);
  const Turn second = driver.hears(arrived, from(actor(20)));
  EXPECT_TRUE(second.all<effect::Spawn>().empty());
  EXPECT_EQ(second.only<SessionRespond>(actor(20)).status, 429);
  driver.hears_of_end(first.all<effect::Spawn>()[0].ref);
  EXPECT_EQ(driver.hears(arrived, from(actor(20))).all<effect::Spawn>().size(), 1u);
}

TEST(Admission, ChoicesTakeNoPlacesOfAHigherPriority) {
  GatewayCore::Args args = GatewayDriver::args(20);
  args.tenants = {{.name = "low", .priority = Priority::kLow},
                  {.name = "high", .priority = Priority::kHigh}};
  CoreDriver<GatewayCore> driver(args, actor(1));
  driver.starts();
  driver.hears(StreamsStarted{actor(30)}, from(actor(40)));
  driver.hears(RankJoined{actor(51), {"m"}, 64, 4096}, from(actor(40)));
  std::uint64_t next = 0;
  const auto asks = [&](const char* tenant, std::uint32_t rows) {
    HttpArrived arrived;
    arrived.session = actor(20);
    arrived.exchange = ++next;
    arrived.method = "POST";
    arrived.path = "/v1/chat/completions";
    arrived.tenant = tenant;
    const auto born = driver.hears(arrived, from(actor(20))).all<effect::Spawn>().at(0);
    const RequestId id = static_cast<const RequestCore::Args*>(born.args.get())->id;
    return driver.hears(PlaceRequest{id, "m", rows}, from(born.ref)).count<Placed>();
  };
  EXPECT_EQ(asks("low", 11), 0u) << "half of the places are not for it";
  EXPECT_EQ(asks("low", 9), 1u);
  EXPECT_EQ(asks("high", 10), 1u);
}

TEST(Admission, OverloadIs529ToAnthropicsClients) {
  GatewayDriver gateway(0);
  gateway.ready();
  EXPECT_EQ(gateway.answer(gateway.chats()).status, 503);
  const SessionRespond messages = gateway.answer(gateway.asks("POST", "/v1/messages"));
  EXPECT_EQ(messages.status, 529);
  EXPECT_EQ(header(messages, "retry-after"), "2");
  EXPECT_NE(messages.body.find("overloaded_error"), std::string::npos) << messages.body;
  const SessionRespond wrong = gateway.answer(gateway.asks("PUT", "/v1/messages"));
  EXPECT_EQ(wrong.status, 405);
  EXPECT_NE(wrong.body.find("invalid_request_error"), std::string::npos) << wrong.body;
}

TEST(Gateway, TellsTheFrontOfARequestThatEndedOtherwiseThanByItself) {
  GatewayCore::Args args = GatewayDriver::args();
  args.front = actor(60);
  GatewayDriver gateway(args);
  gateway.ready();
  const ActorRef stopped = gateway.request();
  const ActorRef crashed = gateway.request();
  EXPECT_TRUE(gateway.driver.hears_of_end(stopped, EndReason::kStopped)
                  .sent<ExchangeLost>(args.front)
                  .empty());
  const Turn turn = gateway.driver.hears_of_end(crashed, EndReason::kCrashed);
  EXPECT_EQ(turn.only<ExchangeLost>(args.front).exchange, gateway.exchange);
}

}  // namespace
}  // namespace troupe
