// The link: how a node's actors reach those on other nodes of its machine.
//
// A node either listens (the gateway node) or joins one that listens: a star. Nodes that joined
// reach the listener and it reaches them; between two that joined there is no route, and messages
// come back as Undeliverable.
//
//   ClusterLink link(options);              // before the system; outlives it
//   SystemOptions system_options;
//   system_options.node = options.card.node;  // identity.hpp draws it and the incarnation
//   system_options.incarnation = options.card.incarnation;
//   system_options.caf = link.setup();
//   ActorSystem system(system_options);
//   … spawn the root …
//   TROUPE_TRY(link.start(system, root));
//   … system.shutdown(drain, force) says goodbye to the peers at its end …
//
// What a peer's end looks like: its process died (noticed at once), it leaves, or it was silent for
// 4 heartbeats. Then local watchers of its actors get Down(node lost), and on_peer(root, false) is
// called; both happen before a new session with it begins (membership_core.hpp).
//
// Bytes travel as one CAF message type over CAF's middleman, plain TCP on loopback. What loopback
// protects from: CAF's wire protocol has no authentication and no size limit. Any process that can
// connect to the port can end this node (a 32-byte packet announces 4 GiB) or send an exit to the
// link's actor; CAF's config and spawn servers, which every CAF node offers its peers, are taken
// out of its registry here. Random bytes, HTTP and frames that are no frames only end their own
// connection. Users of the same machine are trusted until mutual TLS arrives.
//
// Threads: `route`, `watch`, `unwatch`, `peers` from any; the callbacks run on the link's thread
// and must not block. A node's heartbeats do not depend on its scheduler threads.
#pragma once

#include <memory>
#include <optional>

#include "runtime/actor/system.hpp"
#include "runtime/cluster/address.hpp"
#include "runtime/cluster/link_worker.hpp"

namespace troupe {

class CafLink;

struct ClusterOptions {
  /// What this node says of itself: version, node, incarnation, roles, model, kv_layout, capacity.
  /// The link fills in the rest.
  NodeCard card;
  /// The message types that may cross nodes; the link's own are added.
  MessageRegistry registry;
  // At most one of the two; neither: the node stays alone.
  std::optional<ClusterAddress> listen;
  std::optional<ClusterAddress> join;
  Duration heartbeat = milliseconds(250);
  /// Waiting or unacknowledged for one peer; above it the peer is cut.
  Bytes queue_max{64u << 20};
  LinkCallbacks callbacks;
};

class ClusterLink final : public RemoteRouter {
 public:
  explicit ClusterLink(ClusterOptions options);
  /// Ends the link if the system has not.
  ~ClusterLink() override;

  /// For SystemOptions::caf. Valid as long as the link.
  CafSetup* setup();
  /// Listens or begins to join, in the background, for ever. `root` is what peers are told of.
  /// Requires: once; the system was made with setup().
  Status start(ActorSystem& system, const ActorRef& root);
  /// Where it listens, once started; 0: it does not.
  std::uint16_t port() const;
  /// Who is there; at most one heartbeat old.
  std::vector<PeerStatus> peers() const;
  /// Who was there lately and has not come back.
  std::vector<LostPeer> lost_peers() const;

  // RemoteRouter
  void route(Envelope envelope) override;
  void watch(const ActorRef& watcher, const ActorRef& target) override;
  void unwatch(const ActorRef& watcher, const ActorRef& target) override;

 private:
  ClusterOptions options_;
  std::unique_ptr<CafLink> caf_;
  std::shared_ptr<LinkWorker> worker_;  ///< the link's thread holds it too
};

}  // namespace troupe
