// The link's logic: carries out what the membership core orders, and moves envelopes.
//
// Two sides. Senders (any thread) find the pipe to a node and append to it. The link's own thread
// (the transport's) hears frames, drives the core, and sends what lies in the pipes.
//
// Invariants
// 1. What cannot be sent comes back: Undeliverable to the sender, Down(node lost) to a watcher.
// 2. When a session ends: the pipe closes, then the system hears node_lost, then `on_peer(root,
//    false)`. When one begins: the pipe opens, then `on_peer(root, true)`, then its messages.
// 3. A frame travels in pieces of at most 1 MiB, and each piece counts as a sign of life: a large
//    payload on a slow machine is not mistaken for silence.
// 4. A frame that breaks a rule cuts its peer; envelopes of an actor that is not the peer's, or for
//    another node, are dropped and counted.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "runtime/actor/system.hpp"
#include "runtime/cluster/link_transport.hpp"
#include "runtime/cluster/peer_pipe.hpp"

namespace troupe {

/// One row of the listing of nodes.
struct PeerStatus {
  NodeCard card;
  std::uint32_t join = 0;
  bool joined_by_us = false;
  PeerState state = PeerState::kUp;
  Duration silent;              ///< since it was last heard
  Bytes outstanding;            ///< waiting or unacknowledged
  std::uint64_t frames_in = 0;  ///< of this session, heartbeats included
  std::uint64_t frames_out = 0;
};

/// A peer whose session ended, for whatever reason, and that has not come back.
struct LostPeer {
  NodeCard card;
  Time at;
};

struct LinkCallbacks {
  /// A peer's root actor: it joined (true) or is lost. From the link's thread; must not block.
  std::function<void(const ActorRef& root, bool joined)> on_peer;
  /// A line for the node's log. From the link's thread.
  std::function<void(bool warning, const std::string& text)> log;
};

class LinkWorker {
 public:
  static constexpr std::size_t kLostPeersMax = 16;
  static constexpr Duration kLostPeersKept = seconds(600);

  /// Requires: `system` and what the callbacks use outlive the link's thread, or left_behind().
  LinkWorker(ActorSystem& system, const MessageRegistry& registry, LinkCallbacks callbacks,
             const MembershipCore::Args& membership, Bytes queue_max);

  // Any thread. True: wake the link, there is something to flush.
  [[nodiscard]] bool route(const Envelope& envelope);
  [[nodiscard]] bool watch(const ActorRef& watcher, const ActorRef& target);
  [[nodiscard]] bool unwatch(const ActorRef& watcher, const ActorRef& target);
  std::vector<PeerStatus> peers() const;
  /// Those of the last kLostPeersMax, for kLostPeersKept, whose node has not come back.
  std::vector<LostPeer> lost_peers() const;
  /// The link's thread did not end in time and calls the worker no more; says so in the log.
  void left_behind() const;
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

  // The link's thread.
  void connected(LinkTransport& transport, ConnectionId connection);
  void dial_failed(LinkTransport& transport, const std::string& why);
  void closed(LinkTransport& transport, ConnectionId connection, const std::string& why);
  void received(LinkTransport& transport, ConnectionId connection, std::string_view piece,
                bool more);
  void flush(LinkTransport& transport);
  void wake(LinkTransport& transport);
  Time next_wake() const { return core_.next_wake(); }
  void leave(LinkTransport& transport);
  bool left() const { return core_.left(); }
  /// The link's thread is about to end, whatever the reason: nobody is connected any more.
  void ended();

 private:
  /// A session that is up.
  struct Channel {
    std::shared_ptr<PeerPipe> pipe;
    std::uint64_t session = 0;
    NodeCard peer;
    std::uint64_t received = 0;
    std::uint64_t told = 0;  ///< of `received`, with the last beat
    std::uint64_t frames_in = 0;
    std::uint64_t frames_out = 0;
  };

  std::shared_ptr<PeerPipe> pipe_to(const ActorRef& ref) const;
  bool control(const ActorRef& to, const Message& message, bool& queued);
  void hear(LinkTransport& transport, ConnectionId from, std::string_view frame);
  void hear(LinkTransport& transport, ConnectionId from, std::vector<Envelope> frame,
            std::size_t bytes);
  void cut(LinkTransport& transport, ConnectionId connection, const std::string& why);
  bool hear_control(ConnectionId from, const Message& message, Time now, Orders& orders);
  void deliver(const Channel& channel, Envelope envelope);
  void carry_out(LinkTransport& transport, Orders& orders);
  void open(const order::Open& open);
  void close(ConnectionId connection);
  void flush(LinkTransport& transport, ConnectionId to, Channel& channel);
  void send_frame(LinkTransport& transport, ConnectionId to, Channel& channel,
                  const PeerPipe::Batch& batch);
  static void send_pieces(LinkTransport& transport, ConnectionId to, std::string frame);
  void publish_status();

  ActorSystem& system_;
  const MessageRegistry registry_;
  const LinkCallbacks callbacks_;
  const NodeId self_;
  const std::size_t queue_max_;
  MembershipCore core_;                             ///< the link's thread
  std::map<ConnectionId, Channel> channels_;        ///< the link's thread
  std::map<ConnectionId, std::string> unfinished_;  ///< frames of which pieces are still to come
  std::atomic<std::uint64_t> dropped_{0};

  mutable std::shared_mutex routes_mutex_;
  std::map<NodeId, std::shared_ptr<PeerPipe>> routes_;
  mutable std::mutex status_mutex_;
  std::vector<PeerStatus> status_;
  std::deque<LostPeer> lost_;  ///< the latest last
};

}  // namespace troupe
