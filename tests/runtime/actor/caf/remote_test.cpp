// What a live node asks of the link, and what the link tells it.
#include "tests/runtime/actor/caf/toys.hpp"

namespace troupe {
namespace {

using namespace toys;

/// Writes down what would travel.
class Wire final : public RemoteRouter {
 public:
  void route(Envelope envelope) override {
    std::lock_guard lock(mutex_);
    routed_.push_back(std::move(envelope));
  }
  void watch(const ActorRef&, const ActorRef&) override { ++watches; }
  void unwatch(const ActorRef&, const ActorRef&) override { ++unwatches; }
  std::vector<Envelope> routed() {
    std::lock_guard lock(mutex_);
    return routed_;
  }
  std::atomic<int> watches{0};
  std::atomic<int> unwatches{0};

 private:
  std::mutex mutex_;
  std::vector<Envelope> routed_;
};

class RemoteTest : public testing::Test {
 protected:
  RemoteTest() : system(options()), boss(system), a(system.spawn_root<Toy>(1, {boss.ref()})) {
    system.set_remote(&wire);
  }
  static SystemOptions options() {
    SystemOptions made;
    made.node = NodeId(1);
    return made;
  }
  void act(std::uint64_t what, std::uint64_t number, ActorRef ref = {}) {
    system.send(boss.ref(), a, make_message<Act>(what, number, ref));
  }
  static Message down(const ActorRef& ref) {
    return make_message<Down>(ref, EndReason::kStopped, std::string());
  }

  Wire wire;
  System system;
  Inbox boss;
  ActorRef a;
  const ActorRef far{NodeId(2), 1, 77, 1};
};

TEST_F(RemoteTest, MessagesGoToTheRouterAndComeFromIt) {
  act(kForward, 5, far);
  ASSERT_TRUE(eventually([&] { return wire.routed().size() == 1; }));
  EXPECT_EQ(wire.routed()[0].to, far);
  EXPECT_EQ(wire.routed()[0].from, a);
  system.deliver_from_remote(
      {far, a, make_message<Act>(std::uint64_t{kEcho}, std::uint64_t{6}, ActorRef{})});
  ASSERT_TRUE(eventually([&] { return wire.routed().size() == 2; }));
  EXPECT_EQ(wire.routed()[1].message.as<Told>()->number, 6u);
}

TEST_F(RemoteTest, AMessageForTheDeadGoesBackOverTheWire) {
  system.deliver_from_remote({far, {NodeId(1), 1, 5, 1}, make_message<Act>()});
  ASSERT_EQ(wire.routed().size(), 1u);
  EXPECT_NE(wire.routed()[0].message.as<Undeliverable>(), nullptr);
  system.deliver_from_remote({far, {NodeId(1), 9, a.local, 1}, make_message<Act>()});
  EXPECT_EQ(wire.routed().size(), 2u) << "another incarnation of this node is nobody";
}

TEST_F(RemoteTest, ADownFromTheWireIsToldOnce) {
  act(kWatch, 0, far);
  act(kWatch, 0, far);
  ASSERT_TRUE(eventually([&] { return wire.watches == 1; }));
  system.deliver_from_remote({{}, a, down(far)});
  system.deliver_from_remote({{}, a, down(far)});
  system.node_lost(NodeId(2), 1);
  act(kEcho, 9);
  ASSERT_TRUE(eventually([&] { return boss.count<Told>() >= 3; }));
  EXPECT_EQ(boss.count<Told>(), 3u) << "started, down, echo";
}

TEST_F(RemoteTest, ALostNodesActorsAreDownAndItsWatchesForgotten) {
  act(kWatch, 0, far);
  ASSERT_TRUE(eventually([&] { return wire.watches == 1; }));
  system.watch_from_remote(far, a);
  system.node_lost(NodeId(2), 0);
  EXPECT_EQ(boss.count<Down>(), 0u) << "an older incarnation";
  system.node_lost(NodeId(2), 1);
  ASSERT_TRUE(eventually([&] { return boss.count<Told>() == 2; }));
  EXPECT_EQ(boss.wait<Told>(1)->text, "down node lost");
  system.kill(a);
  ASSERT_TRUE(eventually([&] { return !system.alive(a); }));
  EXPECT_TRUE(wire.routed().empty());
}

TEST_F(RemoteTest, ARemoteWatcherHears) {
  system.watch_from_remote(far, a);
  system.watch_from_remote(far, {NodeId(1), 1, 5, 1});
  ASSERT_EQ(wire.routed().size(), 1u);
  EXPECT_EQ(wire.routed()[0].message.as<Down>()->reason, EndReason::kUnknown);
  system.kill(a);
  ASSERT_TRUE(eventually([&] { return wire.routed().size() == 2; }));
  EXPECT_EQ(wire.routed()[1].message.as<Down>()->reason, EndReason::kKilled);
  EXPECT_EQ(wire.routed()[1].to, far);
}

TEST_F(RemoteTest, AnEndUnwatchesElsewhere) {
  act(kWatch, 0, far);
  act(kStop, 0);
  EXPECT_TRUE(eventually([&] { return wire.unwatches == 1; }));
}

}  // namespace
}  // namespace troupe
