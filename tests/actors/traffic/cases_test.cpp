// The developers' cases of kinds bench and simulator (shared data, cases.jsonl) that a load
// generator must get right: what a careless one reports wrongly.
#include <gtest/gtest.h>

#include "actors/traffic/report_text.hpp"
#include "actors/traffic/traffic_core.hpp"
#include "runtime/actor/world.hpp"
#include "tests/actors/traffic/length_prompts.hpp"

namespace troupe {
namespace {

/// A server with so many places; each answer has its first token after `ttft`, and all others then.
/// Every tenth answer may be empty, every second one refused.
struct CaseServer {
  using Accepts = Protocol<HttpArrived, SessionGone, SessionDrained, Undeliverable, TimerFired>;
  struct Args {
    std::uint32_t places = 1000;
    Duration ttft = milliseconds(50);
    std::uint64_t empty_every = 0;
    std::uint64_t refuse_every = 0;
  };
  static constexpr const char* kKind = "case server";

  explicit CaseServer(const Args& args) : args_(args) {}

  void on(const HttpArrived& arrived, Context& context, Effects& out) {
    if (args_.refuse_every > 0 && arrived.exchange % args_.refuse_every == 0) {
      out.send(arrived.session,
               make_message<SessionRespond>(arrived.exchange, std::uint16_t{503}, HeaderList{},
                                            std::string(R"({"error":{"code":"overloaded"}})")));
      return;
    }
    session_ = arrived.session;
    waiting_.push_back(arrived.exchange);
    admit(context, out);
  }
  void on(const TimerFired& fired, Context& context, Effects& out) {
    const std::uint64_t exchange = fired.tag.key;
    --running_;
    out.send(session_, make_message<SessionBegin>(exchange, std::uint16_t{200}));
    const bool empty = args_.empty_every > 0 && exchange % args_.empty_every == 0;
    if (!empty) out.send(session_, make_message<SessionWrite>(exchange, std::string("ab"), 2u));
    out.send(session_, make_message<SessionEnd>(exchange));
    admit(context, out);
  }
  void on(const SessionGone&, Context&, Effects&) {}
  void on(const SessionDrained&, Context&, Effects&) {}
  void on(const Undeliverable&, Context&, Effects&) {}

 private:
  void admit(Context& context, Effects& out) {
    while (running_ < args_.places && !waiting_.empty()) {
      ++running_;
      out.timer({1, waiting_.front()}, context.now + args_.ttft);
      waiting_.erase(waiting_.begin());
    }
  }

  Args args_;
  ActorRef session_;
  std::vector<std::uint64_t> waiting_;
  std::uint32_t running_ = 0;
};

TrafficReport report_of(const TrafficPlan& plan, const CaseServer::Args& server_args) {
  World world{WorldOptions{}};
  TrafficCore::Args args;
  args.plan = plan;
  args.prompts = std::make_shared<const LengthPrompts>();
  args.target = world.spawn_root<CaseServer>(NodeId(0), 1, server_args);
  const ActorRef traffic = world.spawn_root<TrafficCore>(NodeId(0), 2, args);
  world.run_until(Time() + seconds(10'000));
  EXPECT_TRUE(world.core<TrafficCore>(traffic).ended());
  return world.core<TrafficCore>(traffic).report();
}

/// bench-01: a tenth of the answers are 200 without a token.
TEST(Cases, AnswersWithoutATokenAreNoSuccessAndSpoilNoLatency) {
  TrafficPlan plan;
  plan.concurrency = 5;
  plan.num_requests = 200;
  const TrafficReport report = report_of(plan, {.empty_every = 10});
  EXPECT_EQ(report.count(Outcome::kNoToken), 20u);
  EXPECT_EQ(report.count(Outcome::kOk), 180u);
  EXPECT_EQ(report.ttft.count(), 180u);
  EXPECT_NEAR(report.ttft.least(), 0.05, 1e-4);
  EXPECT_EQ(report.tpot.count(), 0u);  // both tokens came at once: there is no time per token
  EXPECT_NEAR(report.error_share(), 0.1, 1e-9);
  EXPECT_NE(vllm_block(report).find("Requests without a token:                20"),
            std::string::npos);
}

/// bench-03: half of the requests are refused in no time.
TEST(Cases, RefusalsAreNoThroughput) {
  TrafficPlan plan;
  plan.request_rate = 100;
  plan.num_requests = 1000;
  plan.slo.ttft = milliseconds(100);
  const TrafficReport report = report_of(plan, {.refuse_every = 2});
  EXPECT_EQ(report.count(Outcome::kFailed), 500u);
  EXPECT_EQ(report.good(), 500u);
  EXPECT_EQ(report.total(), 1000u);  // each was sent once: nothing is tried again behind the scenes
  EXPECT_DOUBLE_EQ(report.error_share(), 0.5);
  EXPECT_EQ(report.errors().at("HTTP 503 overloaded"), 500u);
  EXPECT_EQ(report.e2el.count(), 500u);
  EXPECT_GT(report.e2el.least(), 0.049);
}

/// simulator-01: four run, each has its first token after 4 s, 100 come at once.
TEST(Cases, TtftIncludesTheQueue) {
  TrafficPlan plan;
  plan.concurrency = 100;
  plan.num_requests = 100;
  const TrafficReport report = report_of(plan, {.places = 4, .ttft = seconds(4)});
  EXPECT_EQ(report.count(Outcome::kOk), 100u);
  EXPECT_NEAR(report.ttft.greatest(), 100, 0.01);  // 25 rounds
  EXPECT_NEAR(report.ttft.percentile(50), 52, 1);  // the 13th
  EXPECT_NEAR(report.ttft.mean(), 52, 0.1);
}

/// The same server under an open loop that it cannot keep up with, measured through a bound on
/// concurrency: a generator that counted from the send would see 4 s.
TEST(Cases, ABoundOnConcurrencyHidesNoWaiting) {
  TrafficPlan plan;
  plan.request_rate = 2;
  plan.burstiness = 1e6;  // evenly
  plan.num_requests = 100;
  plan.concurrency = 4;
  const TrafficReport report = report_of(plan, {.places = 4, .ttft = seconds(4)});
  EXPECT_EQ(report.count(Outcome::kOk), 100u);
  EXPECT_NEAR(report.sent_ttft.greatest(), 4, 0.01);
  EXPECT_NEAR(report.ttft.greatest(), 52, 0.5);  // the last is meant for 50 s and answered at 102
  EXPECT_NEAR(report.asked_rate(), 2, 0.05);
  EXPECT_NEAR(report.achieved_rate(), 1, 0.05);
}

}  // namespace
}  // namespace troupe
