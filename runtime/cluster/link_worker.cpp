#include "runtime/cluster/link_worker.hpp"

#include "runtime/actor/system_messages.hpp"
#include "runtime/base/monotonic.hpp"

namespace troupe {

namespace {

/// Kinds below are the runtime's own: nobody is told that one of them was lost.
constexpr std::uint16_t kFirstUserKind = 0x0010;

/// A peer acknowledges after this share of the queue's limit, or with the next heartbeat.
constexpr std::uint64_t kAcknowledgeShare = 16;

constexpr std::size_t kPieceBytes = 1u << 20;
/// A full batch that ends with a payload of the largest size.
constexpr std::size_t kFrameBytesMax = kPayloadMax + (1u << 20);

}  // namespace

LinkWorker::LinkWorker(ActorSystem& system, const MessageRegistry& registry,
                       LinkCallbacks callbacks, const MembershipCore::Args& membership,
                       Bytes queue_max)
    : system_(system),
      registry_(registry),
      callbacks_(std::move(callbacks)),
      self_(membership.self.node),
      queue_max_(queue_max.value),
      core_(membership, monotonic_now()) {}

// --- any thread ---

std::shared_ptr<PeerPipe> LinkWorker::pipe_to(const ActorRef& ref) const {
  std::shared_lock lock(routes_mutex_);
  const auto at = routes_.find(ref.node);
  return at != routes_.end() && at->second->leads_to(ref) ? at->second : nullptr;
}

bool LinkWorker::route(const Envelope& envelope) {
  const auto pipe = pipe_to(envelope.to);
  const auto put = pipe ? pipe->put(envelope) : PeerPipe::Put::kClosed;
  if (put == PeerPipe::Put::kQueued) return false;
  if (put == PeerPipe::Put::kFirst) return true;
  const std::uint16_t kind = envelope.message.kind();
  if (envelope.from && kind >= kFirstUserKind) {
    system_.deliver_from_remote(
        {{}, envelope.from, make_message<Undeliverable>(envelope.to, kind)});
  }
  return put == PeerPipe::Put::kOverflow;
}

bool LinkWorker::control(const ActorRef& to, const Message& message, bool& queued) {
  const auto pipe = pipe_to(to);
  const auto put = pipe ? pipe->put({{}, {}, message}) : PeerPipe::Put::kClosed;
  queued = put == PeerPipe::Put::kQueued || put == PeerPipe::Put::kFirst;
  return put == PeerPipe::Put::kFirst || put == PeerPipe::Put::kOverflow;
}

bool LinkWorker::watch(const ActorRef& watcher, const ActorRef& target) {
  bool queued = false;
  const bool wake = control(target, make_message<WatchRemote>(watcher, target), queued);
  if (!queued) {
    // If the session ended just now, node_lost may have told it already; only one is delivered.
    system_.deliver_from_remote(
        {{},
         watcher,
         make_message<Down>(target, EndReason::kNodeLost, std::string("no link to its node"))});
  }
  return wake;
}

bool LinkWorker::unwatch(const ActorRef& watcher, const ActorRef& target) {
  bool queued = false;
  return control(target, make_message<UnwatchRemote>(watcher, target), queued);
}

std::vector<PeerStatus> LinkWorker::peers() const {
  std::lock_guard lock(status_mutex_);
  return status_;
}

std::vector<LostPeer> LinkWorker::lost_peers() const {
  const Time since = monotonic_now() - kLostPeersKept;
  std::lock_guard lock(status_mutex_);
  std::vector<LostPeer> kept;
  for (const auto& lost : lost_) {
    if (lost.at >= since) kept.push_back(lost);
  }
  return kept;
}

void LinkWorker::left_behind() const {
  if (callbacks_.log) {
    callbacks_.log(true, "the link's thread did not end in time and is left behind");
  }
}

// --- the link's thread ---

void LinkWorker::connected(LinkTransport& transport, ConnectionId connection) {
  Orders orders;
  core_.connected(connection, monotonic_now(), orders);
  carry_out(transport, orders);
}

void LinkWorker::dial_failed(LinkTransport& transport, const std::string& why) {
  Orders orders;
  core_.dial_failed(why, monotonic_now(), orders);
  carry_out(transport, orders);
}

void LinkWorker::closed(LinkTransport& transport, ConnectionId connection, const std::string& why) {
  unfinished_.erase(connection);
  Orders orders;
  core_.closed(connection, why, monotonic_now(), orders);
  carry_out(transport, orders);
}

void LinkWorker::received(LinkTransport& transport, ConnectionId connection, std::string_view piece,
                          bool more) {
  core_.hear_piece(connection, monotonic_now());
  const auto begun = unfinished_.find(connection);
  if (begun == unfinished_.end() && !more) return hear(transport, connection, piece);
  std::string& frame = begun == unfinished_.end() ? unfinished_[connection] : begun->second;
  frame += piece;
  if (frame.size() > kFrameBytesMax) {
    unfinished_.erase(connection);
    return cut(transport, connection, "its frame is over the limit");
  }
  if (more) return;
  const std::string whole = std::move(frame);
  unfinished_.erase(connection);
  hear(transport, connection, whole);
}

void LinkWorker::hear(LinkTransport& transport, ConnectionId from, std::string_view frame) {
  auto envelopes = decode_frame(frame, registry_);
  if (envelopes.ok()) return hear(transport, from, std::move(*envelopes), frame.size());
  cut(transport, from, "it sent no frame: " + envelopes.error().message);
}

void LinkWorker::cut(LinkTransport& transport, ConnectionId connection, const std::string& why) {
  Orders orders;
  core_.cut(connection, why, monotonic_now(), orders);
  carry_out(transport, orders);
}

void LinkWorker::hear(LinkTransport& transport, ConnectionId from, std::vector<Envelope> frame,
                      std::size_t bytes) {
  const Time now = monotonic_now();
  Channel* live = nullptr;  // set by the frame's beat
  for (auto& envelope : frame) {
    Orders orders;
    if (const Beat* beat = envelope.message.as<Beat>()) {
      const auto at = channels_.find(from);
      const bool up = core_.hear_beat(from, *beat, orders) && at != channels_.end();
      live = up ? &at->second : nullptr;
      if (up) live->pipe->acknowledged(beat->received);
    } else if (hear_control(from, envelope.message, now, orders)) {
      live = nullptr;
    } else if (live != nullptr) {
      deliver(*live, std::move(envelope));
    } else {
      dropped_.fetch_add(1, std::memory_order_relaxed);
    }
    carry_out(transport, orders);
  }
  if (live == nullptr) return;
  live->received += bytes;
  ++live->frames_in;
  if (live->received - live->told >= queue_max_ / kAcknowledgeShare) {
    send_frame(transport, from, *live, {});
  }
}

bool LinkWorker::hear_control(ConnectionId from, const Message& message, Time now, Orders& orders) {
  auto hear_as = [&]<class M>(const M* said) {
    if (said != nullptr) core_.hear(from, *said, now, orders);
    return said != nullptr;
  };
  return hear_as(message.as<Hello>()) || hear_as(message.as<Welcome>()) ||
         hear_as(message.as<Refused>()) || hear_as(message.as<Ready>()) ||
         hear_as(message.as<Out>());
}

void LinkWorker::deliver(const Channel& channel, Envelope envelope) {
  if (const WatchRemote* watch = envelope.message.as<WatchRemote>()) {
    if (channel.pipe->leads_to(watch->watcher) && watch->target.node == self_) {
      return system_.watch_from_remote(watch->watcher, watch->target);
    }
  } else if (const UnwatchRemote* unwatch = envelope.message.as<UnwatchRemote>()) {
    if (channel.pipe->leads_to(unwatch->watcher) && unwatch->target.node == self_) {
      return system_.unwatch_from_remote(unwatch->watcher, unwatch->target);
    }
  } else if (envelope.to.node == self_ &&
             (!envelope.from || channel.pipe->leads_to(envelope.from))) {
    return system_.deliver_from_remote(std::move(envelope));
  }
  dropped_.fetch_add(1, std::memory_order_relaxed);
}

void LinkWorker::carry_out(LinkTransport& transport, Orders& orders) {
  if (orders.empty()) return;
  for (auto& one : orders) {
    if (auto* say = std::get_if<order::Say>(&one)) {
      const auto at = channels_.find(say->to);
      if (at != channels_.end()) flush(transport, say->to, at->second);
      send_pieces(transport, say->to, encode_frame({{{}, {}, std::move(say->message)}}));
    } else if (auto* beat = std::get_if<order::SayBeat>(&one)) {
      const auto at = channels_.find(beat->to);
      if (at != channels_.end()) send_frame(transport, beat->to, at->second, {});
    } else if (auto* begun = std::get_if<order::Open>(&one)) {
      open(*begun);
    } else if (auto* over = std::get_if<order::Close>(&one)) {
      close(over->connection);
    } else if (auto* line = std::get_if<order::Log>(&one)) {
      if (callbacks_.log) callbacks_.log(line->warning, line->text);
    } else {
      transport.dial();
    }
  }
  publish_status();
}

void LinkWorker::open(const order::Open& open) {
  const NodeCard& peer = open.peer;
  auto pipe = std::make_shared<PeerPipe>(peer.node, peer.incarnation, queue_max_);
  Channel& channel = channels_[open.connection];
  channel.pipe = pipe;
  channel.session = open.session;
  channel.peer = peer;
  {
    std::lock_guard lock(routes_mutex_);
    routes_[peer.node] = std::move(pipe);
  }
  {
    std::lock_guard lock(status_mutex_);
    std::erase_if(lost_, [&](const LostPeer& lost) { return lost.card.node == peer.node; });
  }
  if (callbacks_.on_peer) callbacks_.on_peer(peer.root, true);
}

void LinkWorker::close(ConnectionId connection) {
  const auto at = channels_.find(connection);
  TROUPE_ASSERT(at != channels_.end(), "a session closes once");
  const Channel channel = std::move(at->second);
  channels_.erase(at);
  {
    std::lock_guard lock(routes_mutex_);
    const auto route = routes_.find(channel.peer.node);
    if (route != routes_.end() && route->second == channel.pipe) routes_.erase(route);
  }
  {
    std::lock_guard lock(status_mutex_);
    if (lost_.size() == kLostPeersMax) lost_.pop_front();
    lost_.push_back({channel.peer, monotonic_now()});
  }
  channel.pipe->close();
  system_.node_lost(channel.peer.node, channel.peer.incarnation);
  if (callbacks_.on_peer) callbacks_.on_peer(channel.peer.root, false);
}

void LinkWorker::flush(LinkTransport& transport) {
  std::vector<ConnectionId> overflowed;
  for (auto& [connection, channel] : channels_) {
    if (channel.pipe->overflowed()) overflowed.push_back(connection);
    flush(transport, connection, channel);
  }
  for (const ConnectionId connection : overflowed) {
    cut(transport, connection, "more than " + std::to_string(queue_max_) + " bytes wait for it");
  }
}

void LinkWorker::flush(LinkTransport& transport, ConnectionId to, Channel& channel) {
  for (const auto& batch : channel.pipe->take()) send_frame(transport, to, channel, batch);
}

void LinkWorker::send_frame(LinkTransport& transport, ConnectionId to, Channel& channel,
                            const PeerPipe::Batch& batch) {
  std::string frame;
  frame.reserve(batch.bytes.size() + 128);
  Encoder(frame).put(batch.count + 1);
  append_envelope({{}, {}, make_message<Beat>(channel.session, channel.received)}, frame);
  frame += batch.bytes;
  channel.told = channel.received;
  channel.pipe->sent(frame.size());
  ++channel.frames_out;
  send_pieces(transport, to, std::move(frame));
}

void LinkWorker::send_pieces(LinkTransport& transport, ConnectionId to, std::string frame) {
  std::size_t at = 0;
  for (; frame.size() - at > kPieceBytes; at += kPieceBytes) {
    transport.send(to, frame.substr(at, kPieceBytes), true);
  }
  transport.send(to, at == 0 ? std::move(frame) : frame.substr(at), false);
}

void LinkWorker::wake(LinkTransport& transport) {
  Orders orders;
  core_.wake(monotonic_now(), orders);
  carry_out(transport, orders);
}

void LinkWorker::leave(LinkTransport& transport) {
  Orders orders;
  core_.leave(monotonic_now(), orders);
  carry_out(transport, orders);
}

void LinkWorker::ended() {
  while (!channels_.empty()) close(channels_.begin()->first);
  if (!core_.left() && callbacks_.log) {
    callbacks_.log(true, "the link has ended; this node stays alone until it is restarted");
  }
}

void LinkWorker::publish_status() {
  const Time now = monotonic_now();
  std::vector<PeerStatus> rows;
  for (const auto& peer : core_.peers()) {
    PeerStatus row{peer.card, peer.join, peer.dialed, peer.state, now - peer.heard, {}, 0, 0};
    if (const auto at = channels_.find(peer.connection); at != channels_.end()) {
      row.outstanding = Bytes(at->second.pipe->outstanding());
      row.frames_in = at->second.frames_in;
      row.frames_out = at->second.frames_out;
    }
    rows.push_back(std::move(row));
  }
  std::lock_guard lock(status_mutex_);
  status_ = std::move(rows);
}

}  // namespace troupe
