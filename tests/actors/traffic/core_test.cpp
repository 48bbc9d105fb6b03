#include <gtest/gtest.h>

#include "actors/traffic/traffic_core.hpp"
#include "runtime/actor/world.hpp"

namespace troupe {
namespace {

/// A gateway that does as the test says: it records what comes and answers by exchange number.
struct FakeServer {
  using Accepts = Protocol<HttpArrived, SessionGone, SessionDrained, Undeliverable>;
  struct Args {
    std::uint32_t tokens = 3;  ///< a write each
    Duration each = milliseconds(10);
    std::uint16_t status = 200;
    bool silent = false;
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
    for (std::uint32_t i = 0; i < args_.tokens; ++i) {
      out.send(arrived.session, make_message<SessionWrite>(arrived.exchange, std::string("x"), 1u));
    }
    out.send(arrived.session, make_message<SessionEnd>(arrived.exchange));
    out.send(arrived.session, make_message<SessionCut>(arrived.exchange));  // ignored: a second end
  }
  void on(const SessionGone& gone, Context&, Effects&) { gones.push_back(gone.exchange); }
  void on(const SessionDrained&, Context&, Effects&) {}
  void on(const Undeliverable&, Context&, Effects&) {}

  std::vector<HttpArrived> arrivals;
  std::vector<std::uint64_t> gones;
  Args args_;
};

class TrafficCoreTest : public testing::Test {
 protected:
  void start(TrafficPlan plan, FakeServer::Args server_args = {}) {
    server = world.spawn_root<FakeServer>(NodeId(0), 1, server_args);
    TrafficCore::Args args;
    args.plan = plan;
    args.prompts = std::make_shared<const SimulatedPrompts>();
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
