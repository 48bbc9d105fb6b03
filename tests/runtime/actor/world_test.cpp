#include "runtime/actor/world.hpp"

#include <gtest/gtest.h>

#include "runtime/actor/message_type.hpp"

namespace troupe {
namespace {

struct Ping {
  static constexpr MessageInfo info{0x7001, "ping"};
  std::uint64_t number = 0;
  static void fields(auto& self, auto&& visit) { visit("number", self.number); }
};

/// Records all that happens to it, and acts on some numbers.
struct Probe {
  using Accepts = Protocol<Started, Ping, Down, Undeliverable, TimerFired>;
  struct Args {
    ActorRef friend_ref;
  };
  static constexpr const char* kKind = "probe";

  explicit Probe(const Args& args) : friend_ref(args.friend_ref) {}

  ActorRef friend_ref;
  ActorRef child;
  std::vector<std::uint64_t> pings;
  std::vector<Down> downs;
  std::vector<Undeliverable> undeliverables;
  std::vector<std::uint64_t> timers;

  void on(const Started&, Context&, Effects&) {}
  void on(const Ping& ping, Context& context, Effects& out) {
    pings.push_back(ping.number);
    switch (ping.number) {
      case 1:
        out.send(friend_ref, make_message<Ping>(std::uint64_t{100}));
        break;
      case 2:
        out.watch(friend_ref);
        break;
      case 3:
        out.stop("asked to");
        break;
      case 4:
        out.send(friend_ref, make_message<Ping>(std::uint64_t{200}));
        TROUPE_ASSERT(false, "crash on purpose");
      case 5:
        out.timer({1, 5}, context.now + seconds(1));
        out.timer({1, 6}, context.now + seconds(2));
        out.timer({1, 5}, context.now + seconds(3));
        break;
      case 6:
        out.cancel_timer({1, 6});
        break;
      case 7:
        child = context.spawn<Probe>(out, {context.self});
        break;
      case 8:
        child = context.respawn<Probe>(out, child, {context.self});
        break;
      case 9:
        out.end_child(child);
        break;
      default:
        break;
    }
  }
  void on(const Down& down, Context&, Effects&) { downs.push_back(down); }
  void on(const Undeliverable& lost, Context&, Effects&) { undeliverables.push_back(lost); }
  void on(const TimerFired& fired, Context&, Effects&) { timers.push_back(fired.tag.key); }
};

/// Notes what it was told ahead, and what it had heard by then.
struct Fetcher {
  using Accepts = Protocol<Started, Ping>;
  struct Args {
    std::shared_ptr<std::vector<std::pair<std::uint64_t, std::size_t>>> ahead;
  };
  static constexpr const char* kKind = "fetcher";
  explicit Fetcher(const Args& args) : ahead(args.ahead) {}
  void on(const Started&, Context&, Effects&) {}
  void on(const Ping&, Context&, Effects&) { ++heard; }
  void fetch_ahead(const Ping& ping) const { ahead->emplace_back(ping.number, heard); }

  std::shared_ptr<std::vector<std::pair<std::uint64_t, std::size_t>>> ahead;
  std::size_t heard = 0;
};

class WorldTest : public testing::Test {
 protected:
  WorldTest() : world({}) {
    b = world.spawn_root<Probe>(NodeId(0), 2, {});
    a = world.spawn_root<Probe>(NodeId(0), 1, {b});
  }
  void ping(const ActorRef& to, std::uint64_t number) {
    world.post(world.now(), to, make_message<Ping>(number));
    world.run_until(world.now() + milliseconds(1));
  }
  Probe& probe(const ActorRef& ref) { return world.core<Probe>(ref); }

  World world;
  ActorRef a, b;
};

TEST_F(WorldTest, AMessageTakesTheModelledTime) {
  world.post(Time(1000), a, make_message<Ping>(std::uint64_t{1}));
  world.run_until(Time(1999));
  EXPECT_TRUE(probe(b).pings.empty());
  world.run_until(Time(2000));
  EXPECT_EQ(probe(b).pings, std::vector<std::uint64_t>{100});
}

TEST_F(WorldTest, WhatWasSentOrIsPostedIsFetchedBeforeItIsHeard) {
  const auto ahead = std::make_shared<std::vector<std::pair<std::uint64_t, std::size_t>>>();
  const ActorRef fetcher = world.spawn_root<Fetcher>(NodeId(0), 3, {ahead});
  const ActorRef sender = world.spawn_root<Probe>(NodeId(0), 4, {fetcher});
  ping(sender, 1);
  EXPECT_EQ(world.core<Fetcher>(fetcher).heard, 1u);
  EXPECT_EQ(*ahead, (decltype(Fetcher::ahead)::element_type{{100, 0}}));
  ahead->clear();
  // Of what comes in the same moment the first is there too soon.
  const Time due = Time() + seconds(1);
  world.post(due, fetcher, make_message<Ping>(std::uint64_t{7}));
  world.post(due + microseconds(1), fetcher, make_message<Ping>(std::uint64_t{8}));
  world.run_until(world.now() + seconds(2));
  EXPECT_EQ(*ahead, (decltype(Fetcher::ahead)::element_type{{8, 1}}));
  ahead->clear();
  world.kill(world.now(), fetcher);
  world.run_until(world.now() + milliseconds(1));
  ping(sender, 1);
  EXPECT_TRUE(ahead->empty()) << "it has ended";
}

TEST_F(WorldTest, WatchersHearOfStopsKillsAndCrashes) {
  ping(a, 2);
  ping(b, 3);
  ASSERT_EQ(probe(a).downs.size(), 1u);
  EXPECT_EQ(probe(a).downs[0].reason, EndReason::kStopped);
  EXPECT_EQ(probe(a).downs[0].ref, b);
  ping(a, 2);  // watching the dead brings Down at once
  ASSERT_EQ(probe(a).downs.size(), 2u);
  EXPECT_EQ(probe(a).downs[1].reason, EndReason::kUnknown);
}

TEST_F(WorldTest, ACrashDiscardsTheEffectsOfItsHandler) {
  ping(b, 2);  // b's friend is nobody: a Down about nobody
  world.post(world.now(), a, make_message<Ping>(std::uint64_t{4}));
  world.run_until(world.now() + milliseconds(1));
  EXPECT_EQ(world.find(a), nullptr);
  EXPECT_EQ(probe(b).pings, std::vector<std::uint64_t>{2});
}

TEST_F(WorldTest, SendingToTheDeadComesBack) {
  world.kill(world.now(), b);
  ping(a, 1);
  ASSERT_EQ(probe(a).undeliverables.size(), 1u);
  EXPECT_EQ(probe(a).undeliverables[0].to, b);
  EXPECT_EQ(probe(a).undeliverables[0].kind, Ping::info.kind);
}

TEST_F(WorldTest, ATagHasOneTimerAndACancelledOneNeverFires) {
  ping(a, 5);
  const std::size_t with_timers = world.pending();
  ping(a, 6);
  EXPECT_EQ(world.pending(), with_timers - 1) << "a cancelled timer leaves the queue";
  world.run_until(world.now() + seconds(2));
  EXPECT_TRUE(probe(a).timers.empty()) << "the first timer of tag 5 was replaced";
  world.run_until(world.now() + seconds(2));
  EXPECT_EQ(probe(a).timers, std::vector<std::uint64_t>{5});
}

TEST_F(WorldTest, ChildrenEndWithTheirParentAndRestartWithANewLife) {
  ping(a, 7);
  const ActorRef child = probe(a).child;
  ASSERT_NE(world.find(child), nullptr);
  world.kill(world.now(), child);
  world.run_until(world.now() + milliseconds(1));
  ASSERT_EQ(probe(a).downs.size(), 1u) << "a parent hears of its child without a watch";
  ping(a, 8);
  const ActorRef second = probe(a).child;
  EXPECT_EQ(second.local, child.local);
  EXPECT_EQ(second.life, child.life + 1);
  EXPECT_EQ(world.find(child), nullptr);
  ping(second, 7);
  const ActorRef grandchild = probe(second).child;
  EXPECT_NE(world.find(grandchild), nullptr);
  world.kill(world.now(), a);
  world.run_until(world.now() + milliseconds(1));
  EXPECT_EQ(world.find(second), nullptr);
  EXPECT_EQ(world.find(grandchild), nullptr);
  EXPECT_EQ(world.actor_count(), 1u);
}

TEST_F(WorldTest, TheTraceHashSeesPayloads) {
  auto run = [](std::uint64_t number) {
    World one({});
    const ActorRef probe = one.spawn_root<Probe>(NodeId(0), 1, {});
    one.post(Time(10), probe, make_message<Ping>(number));
    one.run_until(Time(100));
    return one.trace_hash();
  };
  EXPECT_EQ(run(50), run(50));
  EXPECT_NE(run(50), run(51));
}

class FrozenNodeTest : public WorldTest {
 protected:
  FrozenNodeTest() { far = world.spawn_root<Probe>(NodeId(1), 3, {a}); }
  ActorRef far;
};

TEST_F(FrozenNodeTest, MessagesWaitInTheirOrderAndNothingOvertakesThem) {
  world.freeze(NodeId(1), Time() + seconds(2));
  ping(far, 101);
  ping(far, 102);
  EXPECT_TRUE(probe(far).pings.empty());
  // Due right after the thaw: still behind those that wait.
  world.post(Time() + seconds(2) + nanoseconds(1), far, make_message<Ping>(std::uint64_t{103}));
  world.run_until(Time() + seconds(2));
  world.thaw(NodeId(1));
  EXPECT_EQ(probe(far).pings, (std::vector<std::uint64_t>{101, 102}));
  world.run_until(Time() + seconds(3));
  EXPECT_EQ(probe(far).pings, (std::vector<std::uint64_t>{101, 102, 103}));
}

TEST_F(FrozenNodeTest, ATimerThatIsCancelledByAWaitingMessageNeverFires) {
  ping(far, 5);
  world.freeze(NodeId(1), Time() + seconds(10));
  world.run_until(Time() + seconds(5));
  ping(far, 6);  // cancels the timer of tag 6, which was due at 2 s
  world.run_until(Time() + seconds(10));
  EXPECT_TRUE(probe(far).timers.empty());
  world.thaw(NodeId(1));
  world.run_until(Time() + seconds(11));
  EXPECT_EQ(probe(far).timers, std::vector<std::uint64_t>{5});
}

TEST_F(FrozenNodeTest, AKillGetsThroughAndOthersAreNotHeldUp) {
  ping(a, 1);
  world.freeze(NodeId(1), Time() + seconds(2));
  ping(far, 5);
  world.kill(world.now(), far);
  ping(b, 7);
  EXPECT_EQ(world.find(far), nullptr);
  EXPECT_EQ(probe(b).pings.back(), 7u);
  world.run_until(Time() + seconds(2));
  world.thaw(NodeId(1));
}

TEST_F(FrozenNodeTest, ALostNodeIsToldToWhoeverWatchesAcrossItsBorder) {
  ping(far, 2);  // watches a
  ping(a, 2);    // watches b, on its own node
  world.lose_node(NodeId(1));
  world.run_until(world.now() + milliseconds(1));
  ASSERT_EQ(probe(far).downs.size(), 1u);
  EXPECT_EQ(probe(far).downs[0].ref, a);
  EXPECT_EQ(probe(far).downs[0].reason, EndReason::kNodeLost);
  EXPECT_TRUE(probe(a).downs.empty());
  EXPECT_NE(world.find(a), nullptr);
  ping(a, 3);
  EXPECT_EQ(probe(far).downs.size(), 1u) << "the watch is over";
}

}  // namespace
}  // namespace troupe
