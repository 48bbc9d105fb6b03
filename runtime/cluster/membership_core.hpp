// Membership: decides who is in, who is out, and when to try again.
//
// One core a node, for all of its connections. A node either listens (others join it) or joins one
// listener. Pure: it is told what happened and what time it is, and answers with orders. The link
// worker (link_worker.hpp) carries them out.
//
//   joining:    waiting ─ back-off over → dialing ─ connected → hello sent ─ Welcome → up
//   listening:  Hello ─ Welcome → offered ─ Ready → up
//
// A node's incarnation, as its peers count it, is (process, join): `process` is in its actors'
// references, `join` grows with each Hello of the process. Each join is one session; a session that
// has ended never comes back.
//
// Invariants
// 1. A session is up at both ends or soon at neither: whoever ends it says Out, and whoever hears
//    of a session that is over answers Out. So a node that was frozen is fenced with the first
//    thing it sends, or hears; it may also notice itself (its wakes were late by 4 intervals).
// 2. Open and Close alternate for a connection. Close comes before anything of a newer session, so
//    that all work of the old one has been told to end.
// 3. A peer is lost when neither heartbeat nor data arrived for 4 of the intervals that it
//    promised.
// 4. A listener opens a session only when Ready has come, that is, when both directions work: a
//    one-way loss ends a session once and does not make it flap.
// 5. Of two processes with one node id the greater incarnation stays; the other one is refused.
//    Back-off grows from 100 ms to 5 s and shrinks only after a session of 5 s.
//
// Why a rejoin keeps `process`: references of a frozen and thawed node stay valid, as in Erlang.
// Both sides have told every watcher Down(node lost) before the new session begins, so all that
// was owed across the link has ended.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runtime/actor/message.hpp"
#include "runtime/base/rng.hpp"
#include "runtime/cluster/card.hpp"
#include "runtime/cluster/link_messages.hpp"

namespace troupe {

/// A way to one link actor elsewhere; numbered by whoever holds it. 0: none.
struct ConnectionId : Strong<ConnectionId, std::uint64_t> {
  using Strong::Strong;
};

namespace order {

/// Connect to the node to join; exactly one of `connected`, `dial_failed` follows.
struct Dial {};
/// Behind all that is queued for this connection.
struct Say {
  ConnectionId to;
  Message message;
};
/// A heartbeat of the session of this connection.
struct SayBeat {
  ConnectionId to;
};
/// The session is up: frames may flow.
struct Open {
  ConnectionId connection;
  std::uint64_t session;
  NodeCard peer;
};
/// It is over: what is queued is dropped, the peer's actors are lost.
struct Close {
  ConnectionId connection;
  NodeCard peer;
};
struct Log {
  bool warning;
  std::string text;
};

}  // namespace order

using Order =
    std::variant<order::Dial, order::Say, order::SayBeat, order::Open, order::Close, order::Log>;
using Orders = std::vector<Order>;

enum class PeerState : std::uint8_t { kHelloSent, kOffered, kUp, kLeaving };

/// What the listing of nodes shows of a peer.
struct PeerRow {
  ConnectionId connection;
  std::uint64_t session = 0;
  std::uint32_t join = 0;  ///< of whichever side joined
  bool dialed = false;     ///< we joined it
  PeerState state = PeerState::kOffered;
  Time since;     ///< in this state
  Time heard;     ///< last
  NodeCard card;  ///< not known while kHelloSent
};

class MembershipCore {
 public:
  enum class Role : std::uint8_t { kListens, kJoins };
  struct Args {
    Role role = Role::kListens;
    NodeCard self;
    std::size_t peers_max = 256;
  };
  static constexpr std::int64_t kSilentIntervals = 4;
  static constexpr Duration kBackoffMin = milliseconds(100);
  static constexpr Duration kBackoffMax = seconds(5);
  static constexpr Duration kHandshakeMax = seconds(2);
  static constexpr Duration kLeaveMax = milliseconds(500);

  MembershipCore(const Args& args, Time now);

  // What happened.
  void connected(ConnectionId connection, Time now, Orders& out);
  void dial_failed(const std::string& why, Time now, Orders& out);
  /// The connection is gone: the peer's process died, or its host closed it.
  void closed(ConnectionId connection, const std::string& why, Time now, Orders& out);
  /// What it sent breaks the protocol, or its queue is full: the session ends.
  void cut(ConnectionId connection, const std::string& why, Time now, Orders& out);
  /// Something arrived, whatever it will turn out to be.
  void hear_piece(ConnectionId from, Time now);
  /// True: this and what follows in its frame belong to the session that is up.
  bool hear_beat(ConnectionId from, const Beat& beat, Orders& out);
  void hear(ConnectionId from, const Hello& hello, Time now, Orders& out);
  void hear(ConnectionId from, const Welcome& welcome, Time now, Orders& out);
  void hear(ConnectionId from, const Refused& refused, Time now, Orders& out);
  void hear(ConnectionId from, const Ready& ready, Time now, Orders& out);
  void hear(ConnectionId from, const Out& over, Time now, Orders& out);

  /// Does what is due. Requires: called whenever next_wake() has come, late or not.
  void wake(Time now, Orders& out);
  Time next_wake() const;
  /// Says Out to everybody and takes nobody any more.
  void leave(Time now, Orders& out);
  /// Whether all peers have answered the leave, or kLeaveMax has passed.
  bool left() const { return leaving_ && peers_.empty(); }

  const std::vector<PeerRow>& peers() const { return peers_; }

 private:
  enum class Dialing : std::uint8_t { kNever, kWaiting, kDialing, kTalking };

  PeerRow* find(ConnectionId connection, std::uint64_t session);
  PeerRow* find_node(NodeId node);
  std::optional<std::string> refusal(const Hello& hello);
  void open(PeerRow& peer, Time now, Orders& out);
  enum class Tell : bool { kNo, kYes };
  void end(PeerRow* peer, const std::string& why, Tell tell, Time now, Orders& out);
  void try_again(Time now);
  void log_once(const std::string& text, Orders& out);
  void expire(Time now, Orders& out);

  Args args_;
  Rng rng_;
  std::vector<PeerRow> peers_;
  std::uint32_t joins_ = 0;
  Dialing dialing_ = Dialing::kNever;
  Time retry_at_;
  std::int64_t attempts_ = 0;  ///< since the last session that held
  Time last_wake_;
  Time next_beat_;
  bool leaving_ = false;
  std::string last_logged_;
};

}  // namespace troupe
