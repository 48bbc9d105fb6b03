#include <gtest/gtest.h>

#include "actors/traffic/traffic_core.hpp"
#include "runtime/actor/world.hpp"
#include "tests/actors/traffic/length_prompts.hpp"

namespace troupe {
namespace {

/// A gateway that does as the test says: it records what comes and answers by exchange number.
struct FakeServer {
  using Accepts = Protocol<HttpArrived, SessionGone, SessionDrained, Undeliverable, TimerFired>;
  struct Args {
    std::uint32_t tokens = 3;  ///< a write each
    Duration each = milliseconds(10);
    std::uint16_t status = 200;
    bool silent = false;
    bool paced = false;  ///< a token each `each`; one exchange at a time
  };
  static constexpr const char* kKind = "fake server";

  explicit FakeServer(const Args& args) : args_(args) {}

  void on(const HttpArrived& arrived, Context&, Effects& out) {
    arrivals.push_back(arrived);
    if (args_.silent) return;
    if (args_.status != 200) {
      out.send(arrived.session,
               make_message<SessionRespond>(arrived.exchange, args_.status, HeaderList{},
                                            std::string(R"({"error":{"code":"overloaded"}})")));
      return;
    }
    out.send(arrived.session, make_message<SessionBegin>(arrived.exchange, std::uint16_t{200}));
    if (args_.paced) {
      left_ = args_.tokens;
      return out.timer({1, 0}, arrived.arrived + args_.each);
    }
    for (std::uint32_t i = 0; i < args_.tokens; ++i) {
      out.send(arrived.session, make_message<SessionWrite>(arrived.exchange, std::string("x"), 1u));
    }
    out.send(arrived.session, make_message<SessionEnd>(arrived.exchange));
    out.send(arrived.session, make_message<SessionCut>(arrived.exchange));  // ignored: a second end
  }
  void on(const TimerFired&, Context& context, Effects& out) {
    const HttpArrived& last = arrivals.back();
    out.send(last.session, make_message<SessionWrite>(last.exchange, std::string("x"), 1u));
    if (--left_ > 0) return out.timer({1, 0}, context.now + args_.each);
    out.send(last.session, make_message<SessionEnd>(last.exchange));
  }
  void on(const SessionGone& gone, Context&, Effects&) { gones.push_back(gone.exchange); }
  void on(const SessionDrained&, Context&, Effects&) {}
  void on(const Undeliverable&, Context&, Effects&) {}

  std::vector<HttpArrived> arrivals;
  std::vector<std::uint64_t> gones;
  Args args_;
  std::uint32_t left_ = 0;
};

class TrafficCoreTest : public testing::Test {
 protected:
  void start(TrafficPlan plan, FakeServer::Args server_args = {}) {
    server = world.spawn_root<FakeServer>(NodeId(0), 1, server_args);
    TrafficCore::Args args;
    args.plan = plan;
    args.source = source;
    args.prompts = std::make_shared<const LengthPrompts>();
    args.target = server;
    traffic = world.spawn_root<TrafficCore>(NodeId(0), 2, args);
  }
  const TrafficReport& report() { return world.core<TrafficCore>(traffic).report(); }
  bool ended() { return world.core<TrafficCore>(traffic).ended(); }
  static TrafficPlan closed(std::uint32_t concurrency, std::uint64_t requests) {
    TrafficPlan plan;
    plan.concurrency = concurrency;
    plan.num_requests = requests;
    return plan;
  }

  World world{WorldOptions{}};
  std::shared_ptr<RequestSource> source;
  ActorRef server;
  ActorRef traffic;
};

TEST_F(TrafficCoreTest, ClosedLoopKeepsItsConcurrency) {
  start(closed(4, 20));
  world.run_until(Time() + seconds(10));
  EXPECT_TRUE(ended());
  EXPECT_EQ(report().count(Outcome::kOk), 20u);
  EXPECT_EQ(report().total(), 20u);
  EXPECT_EQ(report().peak_concurrency(), 4u);
  EXPECT_EQ(report().output_tokens(), 60u);
  EXPECT_EQ(world.pending(), 0u);
}

TEST_F(TrafficCoreTest, OpenLoopStartsAtItsRateWhateverTheServerDoes) {
  TrafficPlan plan;
  plan.request_rate = 100;
  plan.duration = seconds(10);
  start(plan, {.silent = true});
  world.run_until(Time() + seconds(20));
  const auto& arrivals = world.core<FakeServer>(server).arrivals;
  EXPECT_NEAR(static_cast<double>(arrivals.size()), 1000, 100);
  EXPECT_FALSE(ended());
  EXPECT_EQ(report().lag.percentile(100), 0);
}

TEST_F(TrafficCoreTest, OpenLoopWithABoundCountsTheWaiting) {
  TrafficPlan plan;
  plan.request_rate = 1000;
  plan.num_requests = 50;
  plan.concurrency = 1;
  plan.timeout = milliseconds(100);
  start(plan, {.silent = true});
  world.run_until(Time() + seconds(60));
  EXPECT_TRUE(ended());
  EXPECT_EQ(report().count(Outcome::kTimedOut), 50u);
  EXPECT_GT(report().lag.percentile(99), 4.0);  // the last waits for 49 × 100 ms
}

TEST_F(TrafficCoreTest, WarmupIsNotCounted) {
  TrafficPlan plan = closed(2, 5);
  plan.warmup = 7;
  start(plan);
  world.run_until(Time() + seconds(10));
  EXPECT_EQ(world.core<FakeServer>(server).arrivals.size(), 12u);
  EXPECT_EQ(report().total(), 5u);
}

TEST_F(TrafficCoreTest, ErrorsAndEmptyAnswersAreFailures) {
  start(closed(1, 3), {.status = 503});
  world.run_until(Time() + seconds(1));
  EXPECT_EQ(report().count(Outcome::kFailed), 3u);
  EXPECT_EQ(report().errors().at("HTTP 503 overloaded"), 3u);
}

TEST_F(TrafficCoreTest, TwoHundredWithoutATokenIsAFailure) {
  start(closed(1, 3), {.tokens = 0});
  world.run_until(Time() + seconds(1));
  EXPECT_EQ(report().count(Outcome::kNoToken), 3u);
  EXPECT_EQ(report().ttft.count(), 0u);
}

TEST_F(TrafficCoreTest, CancelsAreToldToTheServerOnce) {
  TrafficPlan plan = closed(1, 10);
  plan.cancel_rate = 1;
  plan.cancel_delay = milliseconds(5);
  start(plan, {.silent = true});
  world.run_until(Time() + seconds(10));
  EXPECT_TRUE(ended());
  EXPECT_EQ(report().count(Outcome::kCancelled), 10u);
  EXPECT_EQ(world.core<FakeServer>(server).gones.size(), 10u);
}

TEST_F(TrafficCoreTest, SessionsGoOnAfterTheAnswerAndTheThinkTime) {
  TrafficPlan plan = closed(2, 0);
  plan.num_requests = 12;
  plan.turns = 3;
  plan.think = 5;
  plan.isl = 100;
  plan.osl = 3;
  start(plan);
  world.run_until(Time() + seconds(100));
  EXPECT_TRUE(ended());
  EXPECT_EQ(report().count(Outcome::kOk), 12u);
  const auto& arrivals = world.core<FakeServer>(server).arrivals;
  ASSERT_EQ(arrivals.size(), 12u);
  // Two users with two sessions each, one after the other.
  for (std::size_t i = 0; i < 12; ++i) {
    const std::size_t turn = i / 2 % 3;
    EXPECT_EQ(arrivals[i].simulated->prompt_tokens, 100 + turn * 103) << i;
    EXPECT_NEAR(arrivals[i].arrived.seconds(), static_cast<double>(i / 6 * 10 + turn * 5), 0.1)
        << i;
  }
  EXPECT_EQ(report().peak_concurrency(), 2u);
  EXPECT_EQ(world.pending(), 0u);
}

TEST_F(TrafficCoreTest, ATurnThatFailsEndsItsSession) {
  TrafficPlan plan;
  plan.request_rate = 100;
  plan.num_requests = 20;
  plan.turns = 5;
  start(plan, {.status = 503});
  world.run_until(Time() + seconds(100));
  EXPECT_TRUE(ended());
  EXPECT_EQ(report().count(Outcome::kFailed), 20u);
  for (const auto& arrived : world.core<FakeServer>(server).arrivals) {
    EXPECT_EQ(arrived.simulated->prompt_tokens, 512u);  // first turns only
  }
}

TEST_F(TrafficCoreTest, TurnsBehindTheEndAreNotAsked) {
  TrafficPlan plan = closed(1, 0);
  plan.duration = seconds(12);
  plan.turns = 100;
  plan.think = 5;
  start(plan);
  world.run_until(Time() + seconds(100));
  EXPECT_TRUE(ended());
  EXPECT_EQ(report().count(Outcome::kOk), 3u);  // at 0, 5 and 10 s
}

/// A source of a few requests at given times, which then breaks off.
class Listed final : public RequestSource {
 public:
  Listed(std::vector<Duration> times, bool breaks) : times_(std::move(times)), breaks_(breaks) {}
  Result<std::optional<PlannedRequest>> next() override {
    ++asked;
    if (at_ == times_.size()) {
      if (breaks_) return Error{Code::kInvalid, "trace:7: broken"};
      return std::optional<PlannedRequest>();
    }
    PlannedRequest request;
    request.at = times_[at_++];
    request.prompt = {{1, 10}};
    request.output_tokens = 3;
    return std::optional(request);
  }
  std::optional<PlannedRequest> after(const PlannedRequest&) override { return std::nullopt; }
  bool timed() const override { return true; }
  std::string note() const override { return "a note"; }
  std::size_t asked = 0;

 private:
  std::vector<Duration> times_;
  bool breaks_;
  std::size_t at_ = 0;
};

TrafficPlan trace_plan() {
  TrafficPlan plan;
  plan.trace.file = "trace";
  return plan;
}

TEST_F(TrafficCoreTest, ASourcesTimesAreKeptAndItsEndIsTheRunsEnd) {
  source = std::make_shared<Listed>(std::vector{seconds(1), seconds(1), seconds(4)}, false);
  start(trace_plan());
  world.run_until(Time() + seconds(10));
  EXPECT_TRUE(ended());
  const auto& arrivals = world.core<FakeServer>(server).arrivals;
  ASSERT_EQ(arrivals.size(), 3u);
  EXPECT_NEAR(arrivals[1].arrived.seconds(), 1, 1e-6);
  EXPECT_NEAR(arrivals[2].arrived.seconds(), 4, 1e-6);
  EXPECT_NEAR(report().asked_rate(), 2.0 / 3, 1e-6);
  EXPECT_EQ(report().notes(), std::vector<std::string>{"a note"});
  EXPECT_FALSE(report().broken());
}

TEST_F(TrafficCoreTest, ABrokenSourceEndsTheRunAndIsReported) {
  source = std::make_shared<Listed>(std::vector{seconds(1)}, true);
  start(trace_plan());
  world.run_until(Time() + seconds(10));
  EXPECT_TRUE(ended());
  EXPECT_EQ(report().count(Outcome::kOk), 1u);
  EXPECT_EQ(report().broken()->message, "trace:7: broken");
}

TEST_F(TrafficCoreTest, WhatWaitsForRoomStaysInTheSourceAndItsWaitCounts) {
  auto listed = std::make_shared<Listed>(std::vector<Duration>(1000, milliseconds(1)), false);
  source = listed;
  TrafficPlan plan = trace_plan();
  plan.concurrency = 2;
  plan.timeout = seconds(1);
  start(plan, {.silent = true});
  world.run_until(Time() + milliseconds(500));
  EXPECT_EQ(listed->asked, 3u);  // two under way, one that is next
  world.run_until(Time() + seconds(10) + milliseconds(500));
  EXPECT_EQ(report().count(Outcome::kTimedOut), 20u);
  EXPECT_NEAR(report().lag.greatest(), 10, 0.1);
}

TEST_F(TrafficCoreTest, LatencyCountsFromTheIntendedStart) {
  // One at a time, three meant to start at once: the server needs 1 s each (it answers in time, but
  // the clients take it so long), so that the third one waits for 2 s before it is sent.
  source = std::make_shared<Listed>(std::vector<Duration>(3, milliseconds(1)), false);
  TrafficPlan plan = trace_plan();
  plan.concurrency = 1;
  start(plan, {.each = seconds(1), .paced = true});
  world.run_until(Time() + seconds(20));
  ASSERT_TRUE(ended());
  EXPECT_EQ(report().count(Outcome::kOk), 3u);
  EXPECT_NEAR(report().sent_e2el.greatest(), 3, 0.01);  // three tokens of 1 s
  EXPECT_NEAR(report().e2el.greatest(), 9, 0.01);
  EXPECT_NEAR(report().ttft.greatest(), 7, 0.01);
  EXPECT_NEAR(report().sent_ttft.greatest(), 1, 0.01);
}

TEST_F(TrafficCoreTest, ALostTargetFailsWhatWaitsForIt) {
  start(closed(3, 10), {.silent = true});
  world.run_until(Time() + seconds(1));
  world.kill(world.now(), server);
  world.run_until(Time() + seconds(2));
  EXPECT_EQ(report().count(Outcome::kFailed), 3u);
  EXPECT_FALSE(ended());  // it waits for a new life of the gateway
  const ActorRef next = world.spawn_root<FakeServer>(NodeId(0), 9, {});
  world.post(world.now(), traffic, make_message<GatewayStarted>(next));
  world.run_until(Time() + seconds(3));
  EXPECT_TRUE(ended());
  EXPECT_EQ(report().count(Outcome::kOk), 7u);
}

TEST_F(TrafficCoreTest, DrainLeavesEverything) {
  start(closed(3, 10), {.silent = true});
  world.run_until(Time() + seconds(1));
  world.post(world.now(), traffic, make_message<Drain>(seconds(1)));
  world.run_until(Time() + seconds(2));
  EXPECT_EQ(world.core<FakeServer>(server).gones.size(), 3u);
  EXPECT_EQ(world.actor_count(), 1u);
  EXPECT_EQ(world.pending(), 0u);
}

}  // namespace
}  // namespace troupe
