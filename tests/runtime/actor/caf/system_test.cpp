// The meaning of messages, watches, timers, lives and operations on a live node.
#include "tests/runtime/actor/caf/toys.hpp"

namespace troupe {
namespace {

using namespace toys;

SystemOptions options() {
  SystemOptions made;
  made.node = NodeId(1);
  made.seed = 7;
  return made;
}

class SystemTest : public testing::Test {
 protected:
  SystemTest() : system(options()), boss(system) {
    a = system.spawn_root<Toy>(1, {boss.ref()});
    b = system.spawn_root<Toy>(2, {boss.ref()});
  }
  void act(const ActorRef& to, std::uint64_t what, std::uint64_t number = 0, ActorRef ref = {}) {
    system.send(boss.ref(), to, make_message<Act>(what, number, ref));
  }
  /// Waits until the boss was told `text`; returns the n-th such.
  Told told(const std::string& text, std::size_t n = 0) {
    Told found;
    EXPECT_TRUE(eventually([&] {
      std::size_t left = n;
      for (std::size_t i = 0;; ++i) {
        if (boss.count<Told>() <= i) return false;
        const auto one = boss.wait<Told>(i);
        if (!one || one->text != text) continue;
        if (left-- > 0) continue;
        found = *one;
        return true;
      }
    })) << text;
    return found;
  }
  std::size_t times(const std::string& text) {
    std::size_t total = 0;
    for (std::size_t i = 0; i < boss.count<Told>(); ++i) total += boss.wait<Told>(i)->text == text;
    return total;
  }
  /// Everything that was sent to `ref` before has been handled.
  void settle(const ActorRef& ref) {
    const std::uint64_t number = ++echoes;
    const std::size_t before = times("echo");
    act(ref, kEcho, number);
    ASSERT_TRUE(eventually([&] { return times("echo") > before; }));
  }

  System system;
  Inbox boss;
  ActorRef a, b;
  std::uint64_t echoes = 1'000'000;
};

TEST_F(SystemTest, StartedComesFirstAndPairsStayInOrder) {
  for (std::uint64_t i = 0; i < 1000; ++i) act(a, kEcho, i);
  ASSERT_TRUE(eventually([&] { return times("echo") == 1000; }));
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < boss.count<Told>(); ++i) {
    const auto one = boss.wait<Told>(i);
    if (one->text == "started" && one->ref == a) {
      EXPECT_EQ(next, 0u);
    }
    if (one->text == "echo") {
      EXPECT_EQ(one->number, next++);
    }
  }
}

TEST_F(SystemTest, RootsHaveTheIdsOfTheWorld) {
  EXPECT_EQ(a.local, root_id(NodeId(1), 1));
  EXPECT_EQ(a.node, NodeId(1));
  EXPECT_EQ(a.life, 1u);
  EXPECT_TRUE(system.alive(a));
  EXPECT_EQ(system.actor_count(), 3u) << "two toys and the endpoint";
}

TEST_F(SystemTest, RandomNumbersComeFromSeedIdAndLife) {
  act(a, kRandom);
  Rng rng(mix64(mix64(7, a.local), 1));
  EXPECT_EQ(told("random").number, rng.next());
}

TEST_F(SystemTest, WatchersHearOfStopsCrashesAndKills) {
  act(a, kWatch, 0, b);
  settle(a);
  act(b, kStop, 3);
  EXPECT_EQ(told("down stopped").ref, b);
  EXPECT_EQ(times("farewell"), 3u) << "Down follows the last messages";
  EXPECT_FALSE(system.alive(b));
  act(a, kWatch, 0, b);
  EXPECT_EQ(told("down unknown").ref, b);

  const ActorRef c = system.spawn_root<Toy>(3, {boss.ref()});
  act(a, kWatch, 0, c);
  settle(a);
  act(c, kCrash);
  EXPECT_EQ(told("down crashed").ref, c);
  EXPECT_EQ(times("never"), 0u) << "a crash discards its handler's effects";

  const ActorRef d = system.spawn_root<Toy>(4, {boss.ref()});
  act(a, kWatch, 0, d);
  settle(a);
  system.kill(d);
  EXPECT_EQ(told("down killed").ref, d);
}

TEST_F(SystemTest, WhoUnwatchesHearsNothing) {
  act(a, kWatch, 0, b);
  act(a, kUnwatch, 0, b);
  settle(a);
  act(b, kStop);
  ASSERT_TRUE(eventually([&] { return !system.alive(b); }));
  settle(a);
  EXPECT_EQ(times("down stopped"), 0u);
}

TEST_F(SystemTest, AWatchOnOneselfAndTwiceDoesNoHarm) {
  act(a, kWatch, 0, a);
  act(a, kWatch, 0, b);
  act(a, kWatch, 0, b);
  settle(a);
  system.kill(b);
  told("down killed");
  settle(a);
  EXPECT_EQ(times("down killed"), 1u);
  system.kill(a);
  EXPECT_TRUE(eventually([&] { return !system.alive(a); }));
}

TEST_F(SystemTest, SendingToTheDeadAndTheStaleComesBack) {
  ActorRef stale = b;
  stale.life = 9;
  act(a, kForward, 1, stale);
  EXPECT_EQ(told("lost").ref, stale);
  system.send(boss.ref(), {NodeId(1), 1, 999, 1}, make_message<Act>());
  const auto lost = boss.wait<Undeliverable>();
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->kind, Act::info.kind);
  EXPECT_GE(system.dead_letters(), 2u);
  system.send(boss.ref(), {NodeId(1), 1, 999, 1}, make_message<Down>());
  settle(a);
  EXPECT_EQ(boss.count<Undeliverable>(), 1u) << "messages of the runtime do not come back";
}

TEST_F(SystemTest, WhatLiesInADeadMailboxComesBack) {
  act(a, kBlock, 30);
  act(a, kStop);
  for (int i = 0; i < 100; ++i) act(a, kEcho, 5);
  EXPECT_TRUE(eventually([&] { return boss.count<Undeliverable>() == 100; }));
  EXPECT_EQ(times("echo"), 0u);
}

TEST_F(SystemTest, ChildrenEndBeforeTheirParentAndRestartWithANewLife) {
  act(a, kSpawn);
  const ActorRef child = told("spawned").ref;
  EXPECT_EQ(child.local, child_id(a, 1));
  act(child, kSpawn);
  const ActorRef grandchild = told("spawned", 1).ref;
  system.kill(child);
  EXPECT_EQ(told("down killed").ref, child) << "a parent hears of its child without a watch";
  EXPECT_FALSE(system.alive(grandchild));
  act(a, kRespawn);
  const ActorRef second = told("respawned").ref;
  EXPECT_EQ(second.life, 2u);
  settle(second);
  act(b, kWatch, 0, second);
  settle(b);
  act(a, kStop);
  EXPECT_EQ(told("down parent ended").ref, second);
  EXPECT_TRUE(eventually([&] { return system.actor_count() == 2; }));
}

TEST_F(SystemTest, AParentEndsAChild) {
  act(a, kSpawn);
  const ActorRef child = told("spawned").ref;
  act(a, kEndChild);
  EXPECT_EQ(told("down stopped").ref, child);
}

TEST_F(SystemTest, AConstructorThatThrowsIsACrash) {
  act(a, kSpawn, 1);
  const ActorRef child = told("spawned").ref;
  EXPECT_EQ(told("down crashed").ref, child);
}

TEST_F(SystemTest, TimersFireOnceAndCancelledOnesNever) {
  act(a, kTimer, 5);
  EXPECT_EQ(told("timer").number, 5u);
  act(a, kTwoTimers);
  told("timer", 1);
  act(a, kBlock, 10);  // so that both of the next are in the mailbox
  act(a, kLateTimer, 9);
  act(a, kLateCancel, 9);
  settle(a);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  settle(a);
  EXPECT_EQ(times("timer"), 2u) << "not even those whose callback had queued";
}

TEST_F(SystemTest, AnActorThatEndedHearsNoTimer) {
  act(a, kTimer, 20);
  act(a, kStop);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  EXPECT_EQ(times("timer"), 0u);
}

TEST_F(SystemTest, ComputeAnswersOnceWhateverHappens) {
  act(a, kCompute, 5);
  EXPECT_EQ(told("computed").number, 5u);
  act(a, kCompute, 666);
  EXPECT_EQ(told("internal").number, 666u);
  act(a, kCompute, 100);  // longer than its deadline of 50 ms
  act(a, kCompute, 40);   // waits behind it until its own deadline
  told("deadline", 1);
  act(a, kCompute, 30);
  act(a, kCancelOp, 30);
  EXPECT_EQ(told("cancelled").number, 30u);
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  settle(a);
  EXPECT_EQ(times("computed"), 1u);
  EXPECT_EQ(times("deadline"), 2u);
}

TEST_F(SystemTest, ABriefJobIsAnsweredBehindItsTurn) {
  act(a, kBrief, 1);
  EXPECT_EQ(told("computed").number, 1u);
  act(a, kBrief, 666);
  EXPECT_EQ(told("internal").number, 666u);
  act(a, kBlock, 20);  // so that all of the next are in the mailbox
  act(a, kBrief, 2);
  act(a, kCancelOp, 2);
  act(a, kEcho, 3);
  EXPECT_EQ(told("computed", 1).number, 2u) << "it had run when the cancel came";
  settle(a);
  EXPECT_EQ(times("cancelled"), 0u) << "one answer an operation";
}

TEST_F(SystemTest, TheListingAsksNobodyAndDescribeHasADeadline) {
  settle(a);
  EXPECT_EQ(system.describe(a, seconds(5)).value(), "turns=1");
  act(a, kBlock, 200);
  ASSERT_TRUE(eventually([&] { return system.list().size() == 3; }));
  const auto late = system.describe(a, milliseconds(20));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, Code::kDeadline);
  bool found = false;
  for (const auto& row : system.list()) {
    if (row.ref != a) continue;
    found = true;
    EXPECT_STREQ(row.kind, "toy");
    EXPECT_GE(row.in, 3u);
    EXPECT_GE(row.mailbox, 1u) << "a stuck actor shows its mailbox";
  }
  EXPECT_TRUE(found);
  system.kill(b);
  ASSERT_TRUE(eventually([&] { return !system.alive(b); }));
  EXPECT_EQ(system.describe(b, seconds(1)).error().code, Code::kNotFound);
}

TEST_F(SystemTest, EndpointsAreWatchedAndClosed) {
  Inbox other(system);
  act(a, kWatch, 0, other.ref());
  settle(a);
  system.send(other.ref(), a,
              make_message<Act>(std::uint64_t{kEcho}, std::uint64_t{5}, ActorRef{}));
  ASSERT_TRUE(other.wait<Told>().has_value());
  system.close_endpoint(other.ref(), EndReason::kKilled);
  EXPECT_EQ(told("down killed").ref, other.ref());
  system.watch(boss.ref(), b);
  system.kill(b);
  EXPECT_EQ(boss.wait<Down>()->ref, b);
}

TEST_F(SystemTest, ForeignThreadsSend) {
  constexpr std::size_t kEach = 2000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < kEach; ++i) act(i % 2 == 0 ? a : b, kEcho, i);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(eventually([&] { return boss.count<Told>() >= 4 * kEach + 2; }));
  EXPECT_EQ(system.dead_letters(), 0u);
}

}  // namespace
}  // namespace troupe
