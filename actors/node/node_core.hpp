// Node: the root actor of a node. Starts its roles, restarts what crashes, introduces them.
//
// It is the node's directory as well: it tells the gateway of every rank, here and on peers, and
// the front (HTTP endpoint or traffic core) of every life of the gateway.
//
// Drain: the gateway first (it refuses, and finishes its requests), then stream table, response
// store and ranks, then itself. kDrainEnd before its time is over what still runs is cancelled, so
// that each client hears of it; what is left after that ends with the node.
//
// Invariants: (1) a child that ends outside a drain, for any reason, is started again after its
// rule's back-off, as a new life; (2) a gateway life knows all ranks and the stream table's current
// life; (3) peers know this node's ranks from PeerJoined on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "actors/gateway/gateway_core.hpp"
#include "actors/node/node_messages.hpp"
#include "actors/rank/rank_core.hpp"
#include "actors/responses/response_store_core.hpp"
#include "actors/stream_table/stream_table_core.hpp"
#include "runtime/actor/supervisor.hpp"

namespace troupe {

struct RankSpec {
  RankCore::Args args;
  std::vector<std::string> models;
};

class NodeCore {
 public:
  using Accepts = NodeProtocol;
  struct Args {
    bool with_gateway = true;
    GatewayCore::Args gateway;
    StreamTableCore::Args streams;
    ResponseStoreCore::Args responses;  ///< limits.count_max 0: none are kept
    std::vector<RankSpec> ranks;
    ActorRef front;  ///< told of the gateway's lives; nobody on a node without gateway
    RestartRule restart;
  };
  static constexpr const char* kKind = "node";
  /// What cancelled requests get to write their ends. Whoever grants clients a time adds it.
  static constexpr Duration kDrainEnd = seconds(1);
  /// The name of every node's root actor (ActorSystem::spawn_root, World::spawn_root).
  static constexpr std::uint64_t kName = 1;

  explicit NodeCore(const Args& args);

  void on(const Started&, Context& context, Effects& out);
  void on(const PeerJoined& peer, Context& context, Effects& out);
  void on(const PeerLost& peer, Context& context, Effects& out);
  void on(const RankJoined& joined, Context& context, Effects& out);
  void on(const RankLeft& left, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable&, Context&, Effects&) {}
  void on(const Drain& drain, Context& context, Effects& out);

  const char* phase() const;
  std::string describe() const;

 private:
  enum class Role : std::uint8_t { kStreams, kResponses, kGateway, kRank };
  struct Child {
    Role role;
    std::size_t rank = 0;  ///< index of its RankSpec
    ActorRef ref;          ///< of its latest life
    bool alive = false;
    Supervisor supervisor;
  };

  void start(Child& child, Context& context, Effects& out);
  void introduce_gateway(Context& context, Effects& out);
  void announce_rank(const RankJoined& joined, Effects& out);
  RankJoined introduction(const Child& child) const;
  ActorRef start_child(Child& child, Context& context, Effects& out);
  Child* find(Role role);
  void cancel_all(Context& context, Effects& out);
  void drain_next(Effects& out);

  Args args_;
  std::vector<Child> children_;
  std::map<ActorRef, RankJoined> remote_ranks_;
  std::vector<ActorRef> peers_;
  bool draining_ = false;
  Duration drain_within_;
};

}  // namespace troupe
