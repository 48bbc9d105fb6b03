#include "runtime/cluster/membership_core.hpp"

#include <algorithm>
#include <optional>

namespace troupe {

namespace {

std::uint64_t session_of(const NodeCard& card, std::uint32_t join) {
  return mix64(mix64(card.node.value, card.incarnation), join);
}

std::string in_ms(Duration duration) {
  return std::to_string(duration.value / 1'000'000) + " ms";
}

void say(ConnectionId to, Message message, Orders& out) {
  out.push_back(order::Say{to, std::move(message)});
}

}  // namespace

MembershipCore::MembershipCore(const Args& args, Time now)
    : args_(args),
      rng_(mix64(args.self.node.value, args.self.incarnation)),
      dialing_(args.role == Role::kJoins ? Dialing::kWaiting : Dialing::kNever),
      retry_at_(now),
      last_wake_(now),
      next_beat_(now) {}

PeerRow* MembershipCore::find(ConnectionId connection, std::uint64_t session) {
  const auto at = std::find_if(peers_.begin(), peers_.end(), [&](const PeerRow& peer) {
    return peer.connection == connection && peer.session == session;
  });
  return at == peers_.end() ? nullptr : &*at;
}

PeerRow* MembershipCore::find_node(NodeId node) {
  const auto at = std::find_if(peers_.begin(), peers_.end(), [&](const PeerRow& peer) {
    return peer.state != PeerState::kHelloSent && peer.card.node == node;
  });
  return at == peers_.end() ? nullptr : &*at;
}

// The same line again and again (a peer that retries every 5 s) is written once.
void MembershipCore::log_once(const std::string& text, Orders& out) {
  if (text == last_logged_) return;
  last_logged_ = text;
  out.push_back(order::Log{true, text});
}

void MembershipCore::try_again(Time now) {
  if (leaving_) {
    dialing_ = Dialing::kNever;
    return;
  }
  const std::int64_t doublings = std::min<std::int64_t>(attempts_++, 6);
  const Duration delay = std::min(kBackoffMin * (std::int64_t{1} << doublings), kBackoffMax);
  // Spread, so that nodes that lost their listener together do not return together.
  dialing_ = Dialing::kWaiting;
  retry_at_ = now + from_seconds(delay.seconds() * (0.8 + 0.4 * rng_.uniform()));
}

void MembershipCore::connected(ConnectionId connection, Time now, Orders& out) {
  if (leaving_) return;
  TROUPE_ASSERT(dialing_ == Dialing::kDialing, "only a dial connects");
  dialing_ = Dialing::kTalking;
  const std::uint64_t session = session_of(args_.self, ++joins_);
  peers_.push_back({connection, session, joins_, true, PeerState::kHelloSent, now, now, {}});
  say(connection, make_message<Hello>(session, joins_, args_.self), out);
}

void MembershipCore::dial_failed(const std::string& why, Time now, Orders& out) {
  if (leaving_) return;
  log_once("cannot join yet (it goes on trying): " + why, out);
  try_again(now);
}

std::optional<std::string> MembershipCore::refusal(const Hello& hello) {
  if (args_.role != Role::kListens) return std::string("this node does not listen");
  if (leaving_) return std::string("this node is shutting down");
  if (auto reason = mismatch(args_.self, hello.card)) return reason;
  const PeerRow* known = find_node(hello.card.node);
  if (known == nullptr) {
    if (peers_.size() < args_.peers_max) return std::nullopt;
    return "there are " + std::to_string(peers_.size()) + " nodes already";
  }
  const bool newer = std::pair(hello.card.incarnation, hello.join) >
                     std::pair(known->card.incarnation, known->join);
  if (newer) return std::nullopt;
  return "node id " + std::to_string(hello.card.node.value) +
         " has joined in a newer life: give each node an id of its own, or none";
}

void MembershipCore::hear(ConnectionId from, const Hello& hello, Time now, Orders& out) {
  if (find(from, hello.session) != nullptr) return;
  if (const auto reason = refusal(hello)) {
    log_once("refused " + name_of(hello.card) + ": " + *reason, out);
    return say(from, make_message<Refused>(hello.session, *reason), out);
  }
  if (PeerRow* known = find_node(hello.card.node)) {
    end(known, "it joins anew", Tell::kYes, now, out);
  }
  peers_.push_back(
      {from, hello.session, hello.join, false, PeerState::kOffered, now, now, hello.card});
  say(from, make_message<Welcome>(hello.session, args_.self), out);
}

void MembershipCore::hear(ConnectionId from, const Welcome& welcome, Time now, Orders& out) {
  PeerRow* peer = find(from, welcome.session);
  if (peer == nullptr || peer->state != PeerState::kHelloSent) return;
  if (const auto reason = mismatch(args_.self, welcome.card)) {
    log_once("did not join " + name_of(welcome.card) + ": " + *reason, out);
    return end(peer, *reason, Tell::kYes, now, out);
  }
  peer->card = welcome.card;
  say(from, make_message<Ready>(welcome.session), out);
  open(*peer, now, out);
}

void MembershipCore::hear(ConnectionId from, const Ready& ready, Time now, Orders& out) {
  PeerRow* peer = find(from, ready.session);
  if (peer == nullptr) {
    return say(from, make_message<Out>(ready.session, std::string("that join is over")), out);
  }
  if (peer->state == PeerState::kOffered) open(*peer, now, out);
}

void MembershipCore::open(PeerRow& peer, Time now, Orders& out) {
  peer.state = PeerState::kUp;
  peer.since = peer.heard = now;
  last_logged_.clear();
  out.push_back(order::Open{peer.connection, peer.session, peer.card});
  out.push_back(order::Log{false, (peer.dialed ? "joined " : "joined by ") + name_of(peer.card) +
                                      ", join " + std::to_string(peer.join)});
}

void MembershipCore::hear(ConnectionId from, const Refused& refused, Time now, Orders& out) {
  PeerRow* peer = find(from, refused.session);
  if (peer == nullptr || peer->state != PeerState::kHelloSent) return;
  log_once("the node to join refused this one: " + refused.reason, out);
  end(peer, refused.reason, Tell::kNo, now, out);
}

void MembershipCore::hear(ConnectionId from, const Out& over, Time now, Orders& out) {
  PeerRow* peer = find(from, over.session);
  if (peer == nullptr) return;
  const bool answer = peer->state != PeerState::kLeaving;
  end(peer, "it says: " + over.reason, answer ? Tell::kYes : Tell::kNo, now, out);
}

void MembershipCore::hear_piece(ConnectionId from, Time now) {
  for (auto& peer : peers_) {
    if (peer.connection == from) peer.heard = now;
  }
}

bool MembershipCore::hear_beat(ConnectionId from, const Beat& beat, Orders& out) {
  PeerRow* peer = find(from, beat.session);
  if (peer == nullptr) {
    say(from, make_message<Out>(beat.session, std::string("that session is over")), out);
    return false;
  }
  return peer->state == PeerState::kUp;
}

void MembershipCore::end(PeerRow* peer, const std::string& why, Tell tell, Time now, Orders& out) {
  const PeerRow ended = std::move(*peer);
  peers_.erase(peers_.begin() + (peer - peers_.data()));
  if (ended.state == PeerState::kUp) {
    out.push_back(order::Close{ended.connection, ended.card});
    out.push_back(order::Log{!leaving_, "lost " + name_of(ended.card) + ": " + why});
  }
  if (tell == Tell::kYes) say(ended.connection, make_message<Out>(ended.session, why), out);
  if (!ended.dialed) return;
  if (ended.state == PeerState::kUp && now - ended.since >= kBackoffMax) attempts_ = 0;
  try_again(now);
}

void MembershipCore::closed(ConnectionId connection, const std::string& why, Time now,
                            Orders& out) {
  for (std::size_t i = peers_.size(); i-- > 0;) {
    if (peers_[i].connection != connection) continue;
    if (peers_[i].state == PeerState::kHelloSent) log_once("cannot join yet: " + why, out);
    end(&peers_[i], why, Tell::kNo, now, out);
  }
}

void MembershipCore::cut(ConnectionId connection, const std::string& why, Time now, Orders& out) {
  log_once("cut a peer: " + why, out);
  for (std::size_t i = peers_.size(); i-- > 0;) {
    if (peers_[i].connection == connection) end(&peers_[i], why, Tell::kYes, now, out);
  }
}

void MembershipCore::expire(Time now, Orders& out) {
  for (std::size_t i = peers_.size(); i-- > 0;) {
    PeerRow& peer = peers_[i];
    const Duration silent = now - peer.heard;
    const Duration waited = now - peer.since;
    switch (peer.state) {
      case PeerState::kUp:
        if (silent <= peer.card.heartbeat * kSilentIntervals) break;
        end(&peer, "silent for " + in_ms(silent), Tell::kYes, now, out);
        break;
      case PeerState::kHelloSent:
        if (waited <= kHandshakeMax) break;
        log_once("cannot join yet: no answer to the handshake", out);
        end(&peer, "no answer to the handshake", Tell::kYes, now, out);
        break;
      case PeerState::kOffered:
        if (waited > kHandshakeMax) end(&peer, "no answer to the handshake", Tell::kYes, now, out);
        break;
      case PeerState::kLeaving:
        if (waited > kLeaveMax) end(&peer, "no answer to the leave", Tell::kNo, now, out);
        break;
    }
  }
}

void MembershipCore::wake(Time now, Orders& out) {
  const Duration asleep = now - last_wake_;
  last_wake_ = now;
  if (asleep > args_.self.heartbeat * kSilentIntervals) {
    // The peers have not heard of this node for as long: they have given it up, or will.
    while (!peers_.empty()) {
      end(&peers_.back(), "this node was frozen for " + in_ms(asleep), Tell::kYes, now, out);
    }
  }
  expire(now, out);
  if (now >= next_beat_) {
    next_beat_ = now + args_.self.heartbeat;
    for (const auto& peer : peers_) {
      if (peer.state == PeerState::kUp) out.push_back(order::SayBeat{peer.connection});
    }
  }
  if (dialing_ == Dialing::kWaiting && now >= retry_at_) {
    dialing_ = Dialing::kDialing;
    out.push_back(order::Dial{});
  }
}

Time MembershipCore::next_wake() const {
  return dialing_ == Dialing::kWaiting ? std::min(next_beat_, retry_at_) : next_beat_;
}

void MembershipCore::leave(Time now, Orders& out) {
  if (leaving_) return;
  leaving_ = true;
  dialing_ = Dialing::kNever;
  std::erase_if(peers_, [](const PeerRow& peer) { return peer.state != PeerState::kUp; });
  for (auto& peer : peers_) {
    // Said before the close, so that it follows all that is queued.
    say(peer.connection, make_message<Out>(peer.session, std::string("it shuts down")), out);
    out.push_back(order::Close{peer.connection, peer.card});
    peer.state = PeerState::kLeaving;
    peer.since = now;
  }
}

}  // namespace troupe
