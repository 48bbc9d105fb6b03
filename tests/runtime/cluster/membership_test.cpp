// Two cores and a wire between them, by hand: the tests decide what arrives and when.
#include <gtest/gtest.h>

#include <deque>
#include <optional>

#include "runtime/cluster/membership_core.hpp"

namespace troupe {
namespace {

NodeCard card(std::uint32_t node, std::uint32_t incarnation = 1) {
  NodeCard made;
  made.version = "1";
  made.protocol_hash = 42;
  made.node = NodeId(node);
  made.incarnation = incarnation;
  made.heartbeat = milliseconds(100);
  made.root = {NodeId(node), incarnation, 9, 1};
  return made;
}

/// One side: its core, and what it ordered.
struct Side {
  Side(MembershipCore::Role role, const NodeCard& self) : core({role, self}, Time()) {}

  void take(const Orders& orders) {
    for (const auto& one : orders) {
      if (const auto* said = std::get_if<order::Say>(&one)) outgoing.push_back(said->message);
      if (const auto* beat = std::get_if<order::SayBeat>(&one)) {
        for (const auto& peer : core.peers()) {
          if (peer.connection != beat->to) continue;
          outgoing.push_back(make_message<Beat>(peer.session, std::uint64_t{0}));
        }
      }
      if (std::holds_alternative<order::Dial>(one)) ++dials;
      if (std::holds_alternative<order::Open>(one)) ++opens;
      if (std::holds_alternative<order::Close>(one)) ++closes;
      if (const auto* line = std::get_if<order::Log>(&one)) log += line->text + "\n";
    }
  }
  void wake(Time now) {
    Orders orders;
    core.wake(now, orders);
    take(orders);
  }
  void hear(ConnectionId from, const Message& message, Time now) {
    Orders orders;
    core.hear_piece(from, now);
    auto as = [&]<class M>(const M* said) {
      if (said != nullptr) core.hear(from, *said, now, orders);
    };
    as(message.as<Hello>());
    as(message.as<Welcome>());
    as(message.as<Refused>());
    as(message.as<Ready>());
    as(message.as<Out>());
    if (const auto* beat = message.as<Beat>()) live = core.hear_beat(from, *beat, orders);
    take(orders);
  }
  bool up() const { return opens == closes + 1; }
  template <class M>
  const M* said() const {
    return outgoing.empty() ? nullptr : outgoing.front().as<M>();
  }

  MembershipCore core;
  std::deque<Message> outgoing;
  std::string log;
  int dials = 0, opens = 0, closes = 0;
  bool live = false;
};

class MembershipTest : public testing::Test {
 protected:
  static constexpr ConnectionId kWire{1};

  /// Carries what both said, as far as the wire lets it.
  void carry() {
    while (!listener.outgoing.empty() || !joiner.outgoing.empty()) {
      carry_one(listener, joiner, down_works);
      carry_one(joiner, listener, up_works);
    }
  }
  void carry_one(Side& from, Side& to, bool works) {
    if (from.outgoing.empty()) return;
    const Message message = from.outgoing.front();
    from.outgoing.pop_front();
    if (works) to.hear(kWire, message, now);
  }
  void dial() {
    if (joiner.dials == dials_answered) return;
    ++dials_answered;
    Orders orders;
    joiner.core.connected(kWire, now, orders);
    joiner.take(orders);
  }
  /// Lets time pass in steps of 10 ms; `frozen` sides do not wake.
  void pass(Duration duration, const Side* frozen = nullptr) {
    for (const Time until = now + duration; now < until;) {
      now = now + milliseconds(10);
      for (Side* side : {&listener, &joiner}) {
        if (side != frozen && now >= side->core.next_wake()) side->wake(now);
      }
      if (frozen != &joiner) dial();
      if (frozen == nullptr) carry();
    }
  }

  Time now;
  bool up_works = true;    // joiner → listener
  bool down_works = true;  // listener → joiner
  Side listener{MembershipCore::Role::kListens, card(1)};
  Side joiner{MembershipCore::Role::kJoins, card(2)};
  int dials_answered = 0;
};

TEST_F(MembershipTest, ANodeJoinsAndBothKnow) {
  pass(milliseconds(300));
  EXPECT_TRUE(listener.up() && joiner.up());
  ASSERT_EQ(listener.core.peers().size(), 1u);
  EXPECT_EQ(listener.core.peers()[0].card.node, NodeId(2));
  EXPECT_EQ(joiner.core.peers()[0].card.root, card(1).root);
  pass(seconds(20));
  EXPECT_EQ(listener.opens + joiner.opens, 2) << "heartbeats keep it";
}

TEST_F(MembershipTest, EachMismatchIsRefusedWithTheReasonOnBothSides) {
  struct Case {
    void (*change)(NodeCard&);
    const char* reason;
  };
  const Case cases[] = {
      {[](NodeCard& c) { c.protocol_hash = 0xabc; },
       "protocol hash differs (2a here, abc there): both nodes must run the same build"},
      {[](NodeCard& c) { c.version = "2"; }, "version differs (1 here, 2 there)"},
      {[](NodeCard& c) { c.link_version = 9; }, "link version differs"},
      {[](NodeCard& c) { c.model = "y"; }, "model differs (x here, y there)"},
      {[](NodeCard& c) { c.kv_layout = "y"; }, "KV layout differs (x here, y there)"},
      {[](NodeCard& c) { c.node = c.root.node = NodeId(1); }, "node id 1 is taken"},
      {[](NodeCard& c) { c.root.node = NodeId(7); }, "not well-formed"},
      {[](NodeCard& c) { c.heartbeat = seconds(100); }, "not well-formed"},
      {[](NodeCard& c) { c.roles.assign(100, "rank"); }, "not well-formed"},
  };
  for (const auto& one : cases) {
    NodeCard self = card(1);
    self.model = self.kv_layout = "x";
    NodeCard other = card(2);
    one.change(other);
    Side refusing{MembershipCore::Role::kListens, self};
    Side refused{MembershipCore::Role::kJoins, other};
    refused.wake(now);
    Orders orders;
    refused.core.connected(kWire, now, orders);
    refused.take(orders);
    refusing.hear(kWire, refused.outgoing.front(), now);
    ASSERT_NE(refusing.said<Refused>(), nullptr) << one.reason;
    refused.hear(kWire, refusing.outgoing.front(), now);
    EXPECT_NE(refusing.log.find(one.reason), std::string::npos) << refusing.log;
    EXPECT_NE(refused.log.find(one.reason), std::string::npos) << refused.log;
    EXPECT_TRUE(refusing.core.peers().empty() && refused.core.peers().empty());
    EXPECT_GT(refused.core.next_wake(), now) << "it tries again later";
  }
}

TEST_F(MembershipTest, ASilentPeerIsLostAfterFourOfItsIntervals) {
  pass(milliseconds(300));
  const Time stopped = now;
  while (listener.up() && now < stopped + seconds(2)) pass(milliseconds(10), &joiner);
  EXPECT_GE(now - stopped, milliseconds(300));
  EXPECT_LE(now - stopped, milliseconds(520));
  EXPECT_NE(listener.log.find("silent for"), std::string::npos);
}

TEST_F(MembershipTest, AThawedNodeNoticesByItselfAndJoinsAnew) {
  pass(milliseconds(300));
  pass(seconds(1), &joiner);
  joiner.outgoing.clear();
  listener.outgoing.clear();
  joiner.wake(now);
  EXPECT_EQ(joiner.closes, 1);
  EXPECT_NE(joiner.log.find("frozen"), std::string::npos);
  pass(seconds(1));
  EXPECT_TRUE(listener.up() && joiner.up());
  EXPECT_EQ(listener.core.peers()[0].join, 2u) << "a new incarnation";
}

TEST_F(MembershipTest, AThawedNodeIsToldWhenItSpeaksFirst) {
  pass(milliseconds(300));
  const std::uint64_t old = joiner.core.peers()[0].session;
  while (listener.up()) pass(milliseconds(10), &joiner);
  listener.outgoing.clear();  // what told it was lost
  listener.hear(kWire, make_message<Beat>(old, std::uint64_t{0}), now);
  EXPECT_FALSE(listener.live);
  ASSERT_NE(listener.said<Out>(), nullptr);
  joiner.hear(kWire, listener.outgoing.front(), now);
  EXPECT_EQ(joiner.closes, 1);
}

TEST_F(MembershipTest, FramesOfAnOldSessionHaveNoEffect) {
  pass(milliseconds(300));
  const std::uint64_t old = joiner.core.peers()[0].session;
  listener.hear(kWire, make_message<Beat>(old, std::uint64_t{0}), now);
  EXPECT_TRUE(listener.live);
  pass(seconds(1), &joiner);
  pass(seconds(1));
  ASSERT_TRUE(listener.up() && joiner.up());
  listener.hear(kWire, make_message<Beat>(old, std::uint64_t{0}), now);
  EXPECT_FALSE(listener.live);
  listener.hear(kWire, make_message<Out>(old, std::string("late")), now);
  listener.hear(kWire, make_message<Ready>(old), now);
  EXPECT_TRUE(listener.up());
}

TEST_F(MembershipTest, AnAsymmetricLossEndsTheSessionOnceAndDoesNotFlap) {
  for (bool* direction : {&up_works, &down_works}) {
    pass(seconds(12));
    ASSERT_TRUE(listener.up() && joiner.up());
    const int opens = listener.opens + joiner.opens;
    *direction = false;
    pass(seconds(30));
    EXPECT_FALSE(listener.up() || joiner.up());
    EXPECT_EQ(listener.opens + joiner.opens, opens) << "nobody opened in between";
    *direction = true;
    pass(seconds(12));
    EXPECT_TRUE(listener.up() && joiner.up()) << "and it comes back";
  }
}

TEST_F(MembershipTest, BackOffGrowsFrom100msTo5s) {
  std::vector<Time> dials;
  for (int seen = 0; now < Time() + seconds(60); now = now + milliseconds(1)) {
    joiner.wake(now);
    if (joiner.dials == seen) continue;
    seen = joiner.dials;
    dials.push_back(now);
    Orders orders;
    joiner.core.dial_failed("nobody listens", now, orders);
    joiner.take(orders);
  }
  ASSERT_GT(dials.size(), 10u);
  EXPECT_LT(dials[1] - dials[0], milliseconds(125));
  for (std::size_t i = 1; i < dials.size(); ++i) {
    EXPECT_LE(dials[i] - dials[i - 1], milliseconds(6001));
  }
  EXPECT_GE(dials[9] - dials[8], milliseconds(3990));
  EXPECT_LT(joiner.log.size(), 100u) << "the same reason is written once";
}

TEST_F(MembershipTest, ARestartedProcessReplacesItsOldLifeAndNotTheOtherWayRound) {
  pass(milliseconds(300));
  Orders orders;
  listener.core.hear(ConnectionId(2), Hello{77, 1, card(2, 5)}, now, orders);
  listener.take(orders);
  EXPECT_EQ(listener.closes, 1);
  listener.hear(ConnectionId(2), make_message<Ready>(std::uint64_t{77}), now);
  EXPECT_TRUE(listener.up());
  listener.outgoing.clear();
  listener.hear(ConnectionId(3), make_message<Hello>(std::uint64_t{78}, 9u, card(2, 4)), now);
  ASSERT_NE(listener.said<Refused>(), nullptr);
  EXPECT_NE(listener.said<Refused>()->reason.find("newer life"), std::string::npos);
}

TEST_F(MembershipTest, AClosedConnectionIsNoticedAtOnceAndDialedAgain) {
  pass(milliseconds(300));
  Orders orders;
  listener.core.closed(kWire, "gone", now, orders);
  listener.take(orders);
  Orders more;
  joiner.core.closed(kWire, "gone", now, more);
  joiner.take(more);
  EXPECT_FALSE(listener.up() || joiner.up());
  pass(milliseconds(300));
  EXPECT_TRUE(listener.up() && joiner.up());
}

TEST_F(MembershipTest, ALeaveIsAnsweredAndEndsInAnyCase) {
  pass(milliseconds(300));
  Orders orders;
  joiner.core.leave(now, orders);
  joiner.take(orders);
  EXPECT_FALSE(joiner.core.left());
  carry();
  EXPECT_TRUE(joiner.core.left());
  EXPECT_FALSE(listener.up());
  EXPECT_NE(listener.log.find("shuts down"), std::string::npos);
  pass(seconds(10));
  EXPECT_EQ(joiner.dials, 1) << "it does not come back";

  Orders last;
  listener.core.leave(now, last);
  EXPECT_TRUE(listener.core.left()) << "nobody to wait for";
}

TEST_F(MembershipTest, ALeaveDoesNotWaitForAFrozenPeer) {
  pass(milliseconds(300));
  Orders orders;
  listener.core.leave(now, orders);
  listener.take(orders);
  pass(MembershipCore::kLeaveMax + milliseconds(120), &joiner);
  EXPECT_TRUE(listener.core.left());
}

TEST_F(MembershipTest, ThereIsRoomForSoManyPeers) {
  for (std::uint32_t i = 0; i < 257; ++i) {
    listener.hear(ConnectionId(i + 1), make_message<Hello>(std::uint64_t{i}, 1u, card(100 + i)),
                  now);
  }
  EXPECT_EQ(listener.core.peers().size(), 256u);
  pass(seconds(3));
  EXPECT_LE(listener.core.peers().size(), 1u) << "who says Hello and nothing else is forgotten";
}

}  // namespace
}  // namespace troupe
