// Two workers and two systems in one process; the test carries the frames, and may spoil them.
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <thread>

#include "runtime/actor/message_type.hpp"
#include "runtime/actor/system_messages.hpp"
#include "runtime/base/rng.hpp"
#include "runtime/cluster/link.hpp"

namespace troupe {
namespace {

struct Note {
  static constexpr MessageInfo info{0x7f02, "note"};
  std::string text;
  static void fields(auto& self, auto&& visit) { visit("text", self.text); }
};

MessageRegistry registry() {
  MessageRegistry made;
  made.add<Note>();
  made.add<Down>();
  made.add<Undeliverable>();
  made.add(LinkProtocol{});
  return made;
}

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 5000 && !condition(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

NodeCard card(std::uint32_t node) {
  NodeCard made;
  made.node = NodeId(node);
  made.incarnation = 1;
  made.heartbeat = seconds(60);  // the test has all the time
  made.root = {NodeId(node), 1, 9, 1};
  return made;
}

/// A node: a system, an endpoint that keeps what it gets, and a worker with a wire.
struct Node final : LinkTransport {
  Node(std::uint32_t number, MembershipCore::Role role, Bytes queue = Bytes(1u << 20))
      : system(options(number)),
        types(registry()),
        inbox(system.open_endpoint([this](const Envelope& envelope) {
          std::lock_guard lock(mutex);
          got.push_back(envelope.message);
        })),
        worker(system, types, {{}, [this](bool, const std::string& text) { log += text + "\n"; }},
               {role, card(number)}, queue) {
    system.set_remote(&router);
  }
  static SystemOptions options(std::uint32_t number) {
    SystemOptions made;
    made.node = NodeId(number);
    return made;
  }
  ~Node() { static_cast<void>(system.shutdown(Duration(0), seconds(2))); }

  void dial() override { dialed = true; }
  void send(ConnectionId, std::string piece, bool more) override {
    outgoing.push_back({std::move(piece), more});
  }
  template <class M>
  std::size_t count() {
    std::lock_guard lock(mutex);
    std::size_t total = 0;
    for (const auto& message : got) total += message.as<M>() != nullptr ? 1 : 0;
    return total;
  }

  struct Router final : RemoteRouter {
    explicit Router(Node& node_in) : node(node_in) {}
    void route(Envelope envelope) override { static_cast<void>(node.worker.route(envelope)); }
    void watch(const ActorRef& watcher, const ActorRef& target) override {
      static_cast<void>(node.worker.watch(watcher, target));
    }
    void unwatch(const ActorRef& watcher, const ActorRef& target) override {
      static_cast<void>(node.worker.unwatch(watcher, target));
    }
    Node& node;
  };

  Router router{*this};
  std::mutex mutex;
  std::vector<Message> got;
  std::string log;
  std::deque<std::pair<std::string, bool>> outgoing;
  bool dialed = false;
  ActorSystem system;
  MessageRegistry types;
  ActorRef inbox;
  LinkWorker worker;
};

/// Two nodes with a session between them.
struct Pair {
  static constexpr ConnectionId kWire{1};

  Pair() {
    b.worker.wake(b);
    EXPECT_TRUE(b.dialed);
    b.worker.connected(b, kWire);
    carry();
  }
  void carry() {
    a.worker.flush(a);
    b.worker.flush(b);
    while (!a.outgoing.empty() || !b.outgoing.empty()) {
      pass(a, b);
      pass(b, a);
    }
  }
  static void pass(Node& from, Node& to) {
    if (from.outgoing.empty()) return;
    const auto [piece, more] = std::move(from.outgoing.front());
    from.outgoing.pop_front();
    to.worker.received(to, kWire, piece, more);
  }
  bool up() { return a.worker.peers().size() == 1 && b.worker.peers().size() == 1; }
  static Message note(std::string text = "x") { return make_message<Note>(std::move(text)); }

  Node a{1, MembershipCore::Role::kListens};
  Node b{2, MembershipCore::Role::kJoins};
};

class WorkerTest : public testing::Test, protected Pair {};

TEST_F(WorkerTest, MessagesCross) {
  ASSERT_TRUE(up());
  a.system.send(a.inbox, b.inbox, note());
  b.system.send(b.inbox, a.inbox, note());
  carry();
  EXPECT_TRUE(eventually([&] { return a.count<Note>() == 1 && b.count<Note>() == 1; }));
}

TEST_F(WorkerTest, AWatchCrossesAndItsDownComesBack) {
  a.system.watch(a.inbox, b.inbox);
  const ActorRef nobody{NodeId(2), 1, 77, 1};
  a.system.watch(a.inbox, nobody);
  carry();
  ASSERT_TRUE(eventually([&] {
    carry();
    return a.count<Down>() == 1;
  })) << "nobody is down at once";
  b.system.close_endpoint(b.inbox);
  EXPECT_TRUE(eventually([&] {
    carry();
    return a.count<Down>() == 2;
  }));
}

TEST_F(WorkerTest, AnUnwatchCrosses) {
  a.system.watch(a.inbox, b.inbox);
  a.system.unwatch(a.inbox, b.inbox);
  carry();
  b.system.close_endpoint(b.inbox);
  ASSERT_TRUE(eventually([&] { return !b.system.alive(b.inbox); }));
  carry();
  EXPECT_EQ(a.count<Down>(), 0u);
}

TEST_F(WorkerTest, WithoutASessionMessagesAndWatchesComeBackAtOnce) {
  b.worker.closed(b, kWire, "gone");
  b.system.send(b.inbox, a.inbox, note());
  b.system.watch(b.inbox, a.inbox);
  EXPECT_TRUE(eventually([&] { return b.count<Undeliverable>() == 1 && b.count<Down>() == 1; }));
  const ActorRef older{NodeId(2), 0, b.inbox.local, 1};
  a.system.send(a.inbox, older, note());
  EXPECT_TRUE(eventually([&] { return a.count<Undeliverable>() == 1; })) << "another incarnation";
}

TEST_F(WorkerTest, ALostPeersActorsAreDown) {
  a.system.watch(a.inbox, b.inbox);
  carry();
  a.worker.closed(a, kWire, "gone");
  EXPECT_TRUE(eventually([&] { return a.count<Down>() == 1; }));
}

TEST_F(WorkerTest, WhatIsNotThePeersIsDropped) {
  std::string frame;
  Encoder(frame).put(std::uint32_t{1});
  const ActorRef third{NodeId(3), 1, 5, 1};
  append_envelope({third, a.inbox, note()}, frame);
  a.worker.received(a, kWire, frame, false);
  EXPECT_EQ(a.worker.dropped(), 1u) << "no beat";
  b.system.send(third, a.inbox, note());
  carry();
  EXPECT_EQ(a.worker.dropped(), 2u) << "a third node's actor";
  EXPECT_EQ(a.count<Note>(), 0u);
}

TEST_F(WorkerTest, GarbageCutsThePeer) {
  a.system.watch(a.inbox, b.inbox);
  carry();
  a.worker.received(a, kWire, "no frame at all", false);
  EXPECT_NE(a.log.find("it sent no frame"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return a.count<Down>() == 1; }));
  carry();
  EXPECT_TRUE(b.worker.peers().empty()) << "and the peer is told";
}

/// Sends spoiled frames of b until a cuts it; returns how many a let pass.
int spoil_until_cut(Pair& pair, Rng& rng) {
  Node &a = pair.a, &b = pair.b;
  for (int i = 0; i < 20; ++i) b.system.send(b.inbox, a.inbox, Pair::note(std::string(50, 'y')));
  b.system.watch(b.inbox, a.inbox);
  b.worker.flush(b);
  const std::string good = b.outgoing.front().first;
  for (int passed = 0; passed < 5'000; ++passed) {
    std::string bad = good;
    for (std::uint64_t spoil = rng.below(4) + 1; spoil > 0; --spoil) {
      bad[rng.below(bad.size())] = static_cast<char>(rng.below(256));
    }
    if (rng.chance(0.3)) bad.resize(rng.below(bad.size()));
    a.worker.received(a, Pair::kWire, bad, rng.chance(0.1));
    a.outgoing.clear();
    if (a.worker.peers().empty()) return passed;
  }
  ADD_FAILURE() << "nothing that was spoiled was noticed";
  return 0;
}

TEST(Worker, SpoiledFramesCutThePeerOrPass) {
  Rng rng(3);
  int passed = 0;
  for (int session = 0; session < 40; ++session) {
    Pair pair;
    passed += spoil_until_cut(pair, rng);
    EXPECT_TRUE(eventually([&] { return !pair.a.log.empty(); })) << "a cut has a reason";
    pair.a.worker.received(pair.a, Pair::kWire, "late", false);  // of a connection that was cut
    EXPECT_TRUE(pair.a.worker.peers().empty());
  }
  EXPECT_GT(passed, 40) << "what is spoiled within a text is a frame still";
}

TEST_F(WorkerTest, APeerThatDoesNotAcknowledgeIsCut) {
  for (int i = 0; i < 40 && a.count<Undeliverable>() == 0; ++i) {
    a.system.send(a.inbox, b.inbox, note(std::string(100'000, 'z')));
    a.worker.flush(a);  // into the wire, never carried
  }
  EXPECT_TRUE(eventually([&] { return a.count<Undeliverable>() > 0; }));
  a.worker.flush(a);
  EXPECT_TRUE(a.worker.peers().empty());
  EXPECT_NE(a.log.find("bytes wait for it"), std::string::npos) << a.log;
}

TEST_F(WorkerTest, AcknowledgementsKeepALongTransferGoing) {
  for (int i = 0; i < 100; ++i) {
    a.system.send(a.inbox, b.inbox, note(std::string(100'000, 'z')));
    carry();
  }
  EXPECT_TRUE(up()) << a.log;
  EXPECT_TRUE(eventually([&] { return b.count<Note>() == 100; }));
}

TEST_F(WorkerTest, ALargePayloadTravelsInPieces) {
  b.system.send(b.inbox, a.inbox, note(std::string(5'000'000, 'w')));
  b.worker.flush(b);
  ASSERT_GE(b.outgoing.size(), 5u);
  for (const auto& [piece, more] : b.outgoing) EXPECT_LE(piece.size(), 1u << 20);
  carry();
  EXPECT_TRUE(eventually([&] { return a.count<Note>() == 1; }));
}

TEST_F(WorkerTest, AFrameWithoutEndCutsThePeer) {
  const std::string piece(1u << 20, 'p');
  for (int i = 0; i < 70; ++i) a.worker.received(a, kWire, piece, true);
  EXPECT_NE(a.log.find("its frame is over the limit"), std::string::npos);
  EXPECT_TRUE(a.worker.peers().empty());
}

TEST_F(WorkerTest, ALeaveDeliversWhatIsQueuedFirst) {
  b.system.send(b.inbox, a.inbox, note());
  b.worker.leave(b);
  carry();
  EXPECT_TRUE(eventually([&] { return a.count<Note>() == 1; }));
  EXPECT_TRUE(b.worker.left());
}

}  // namespace
}  // namespace troupe
