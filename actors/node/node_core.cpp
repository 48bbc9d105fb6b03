#include "actors/node/node_core.hpp"

#include <algorithm>

namespace troupe {

namespace {
constexpr std::uint32_t kRestartTimer = 1;  // the key is the child's index
constexpr std::uint32_t kCancelTimer = 2;
constexpr std::uint32_t kDrainTimer = 3;
}  // namespace

NodeCore::NodeCore(const Args& args) : args_(args) {
  const Supervisor supervisor(args_.restart);
  if (args_.with_gateway) {
    children_.push_back({Role::kStreams, 0, {}, false, supervisor});
    if (args_.responses.limits.count_max > 0) {
      children_.push_back({Role::kResponses, 0, {}, false, supervisor});
    }
    children_.push_back({Role::kGateway, 0, {}, false, supervisor});
  }
  for (std::size_t i = 0; i < args_.ranks.size(); ++i) {
    children_.push_back({Role::kRank, i, {}, false, supervisor});
  }
}

NodeCore::Child* NodeCore::find(Role role) {
  const auto at = std::find_if(children_.begin(), children_.end(),
                               [&](const Child& child) { return child.role == role; });
  return at == children_.end() ? nullptr : &*at;
}

void NodeCore::on(const Started&, Context& context, Effects& out) {
  for (auto& child : children_) start(child, context, out);
}

ActorRef NodeCore::start_child(Child& child, Context& context, Effects& out) {
  switch (child.role) {
    case Role::kStreams:
      return child.ref ? context.respawn<StreamTableCore>(out, child.ref, args_.streams)
                       : context.spawn<StreamTableCore>(out, args_.streams);
    case Role::kResponses:
      return child.ref ? context.respawn<ResponseStoreCore>(out, child.ref, args_.responses)
                       : context.spawn<ResponseStoreCore>(out, args_.responses);
    case Role::kGateway:
      return child.ref ? context.respawn<GatewayCore>(out, child.ref, args_.gateway)
                       : context.spawn<GatewayCore>(out, args_.gateway);
    case Role::kRank:
      break;
  }
  const auto& rank = args_.ranks[child.rank].args;
  return child.ref ? context.respawn<RankCore>(out, child.ref, rank)
                   : context.spawn<RankCore>(out, rank);
}

void NodeCore::start(Child& child, Context& context, Effects& out) {
  if (child.ref) out.count("troupe_actor_restarts_total");
  child.ref = start_child(child, context, out);
  child.alive = true;
  child.supervisor.started(context.now);
  if (child.role == Role::kRank) return announce_rank(introduction(child), out);
  introduce_gateway(context, out);
}

void NodeCore::introduce_gateway(Context&, Effects& out) {
  const Child* gateway = find(Role::kGateway);
  const Child* streams = find(Role::kStreams);
  if (gateway == nullptr || !gateway->alive || !streams->alive) return;
  out.send(gateway->ref, make_message<StreamsStarted>(streams->ref));
  const Child* responses = find(Role::kResponses);
  if (responses != nullptr && responses->alive) {
    out.send(gateway->ref, make_message<ResponsesStarted>(responses->ref));
  }
  for (const auto& child : children_) {
    if (child.role != Role::kRank || !child.alive) continue;
    out.send(gateway->ref, make_message<RankJoined>(introduction(child)));
  }
  for (const auto& [ref, joined] : remote_ranks_) {
    out.send(gateway->ref, make_message<RankJoined>(joined));
  }
  out.send(args_.front, make_message<GatewayStarted>(gateway->ref));
}

RankJoined NodeCore::introduction(const Child& child) const {
  const RankSpec& spec = args_.ranks[child.rank];
  RankJoined joined;
  joined.rank = child.ref;
  joined.models = spec.models;
  joined.capacity = spec.args.limits.max_num_seqs + spec.args.limits.queue_max;
  joined.context_max = spec.args.device.context_max;
  return joined;
}

void NodeCore::announce_rank(const RankJoined& joined, Effects& out) {
  const Child* gateway = find(Role::kGateway);
  if (gateway != nullptr && gateway->alive) {
    out.send(gateway->ref, make_message<RankJoined>(joined));
  }
  for (const auto& peer : peers_) out.send(peer, make_message<RankJoined>(joined));
}

void NodeCore::on(const PeerJoined& peer, Context&, Effects& out) {
  std::erase(peers_, peer.root);
  peers_.push_back(peer.root);
  for (const auto& child : children_) {
    if (child.role != Role::kRank || !child.alive) continue;
    out.send(peer.root, make_message<RankJoined>(introduction(child)));
  }
}

void NodeCore::on(const PeerLost& peer, Context&, Effects& out) {
  std::erase(peers_, peer.root);
  const Child* gateway = find(Role::kGateway);
  std::erase_if(remote_ranks_, [&](const auto& entry) {
    const ActorRef& rank = entry.first;
    if (rank.node != peer.root.node || rank.incarnation != peer.root.incarnation) return false;
    if (gateway != nullptr && gateway->alive) {
      out.send(gateway->ref, make_message<RankLeft>(rank));
    }
    return true;
  });
}

void NodeCore::on(const RankJoined& joined, Context&, Effects& out) {
  // A rank's new life replaces its old one.
  std::erase_if(remote_ranks_, [&](const auto& entry) {
    return entry.first.node == joined.rank.node && entry.first.local == joined.rank.local;
  });
  remote_ranks_[joined.rank] = joined;
  const Child* gateway = find(Role::kGateway);
  if (gateway != nullptr && gateway->alive) {
    out.send(gateway->ref, make_message<RankJoined>(joined));
  }
}

void NodeCore::on(const RankLeft& left, Context&, Effects& out) {
  remote_ranks_.erase(left.rank);
  const Child* gateway = find(Role::kGateway);
  if (gateway != nullptr && gateway->alive) out.send(gateway->ref, make_message<RankLeft>(left));
}

void NodeCore::on(const Down& down, Context& context, Effects& out) {
  const auto at = std::find_if(children_.begin(), children_.end(),
                               [&](const Child& child) { return child.ref == down.ref; });
  if (at == children_.end()) return;
  at->alive = false;
  if (draining_) return drain_next(out);
  const auto delay = at->supervisor.delay_after_crash(context.now);
  if (!delay) return out.fail("a child crashes again and again: " + down.detail);
  out.warn("child_down", to_string(down.ref) + " " + std::string(to_string(down.reason)) + ": " +
                             down.detail + "; restart in " +
                             std::to_string(delay->value / 1'000'000) + " ms");
  out.timer({kRestartTimer, static_cast<std::uint64_t>(at - children_.begin())},
            context.now + *delay);
}

void NodeCore::on(const TimerFired& fired, Context& context, Effects& out) {
  if (fired.tag.kind == kCancelTimer) return cancel_all(context, out);
  if (fired.tag.kind == kDrainTimer) return out.stop("the drain's time is over");
  Child& child = children_.at(fired.tag.key);
  if (!draining_ && !child.alive) start(child, context, out);
}

void NodeCore::on(const Drain& drain, Context& context, Effects& out) {
  if (draining_) return;
  draining_ = true;
  out.timer({kCancelTimer, 0}, context.now + drain.within - kDrainEnd);
  drain_within_ = drain.within;
  drain_next(out);
}

void NodeCore::cancel_all(Context& context, Effects& out) {
  const Child* gateway = find(Role::kGateway);
  if (gateway != nullptr && gateway->alive) {
    out.send(gateway->ref, make_message<Drain>(Duration()));
  }
  out.timer({kDrainTimer, 0}, context.now + kDrainEnd);
}

void NodeCore::drain_next(Effects& out) {
  Child* gateway = find(Role::kGateway);
  if (gateway != nullptr && gateway->alive) {
    return out.send(gateway->ref, make_message<Drain>(drain_within_));
  }
  bool any = false;
  for (const auto& child : children_) {
    if (!child.alive) continue;
    any = true;
    out.send(child.ref, make_message<Drain>(drain_within_));
  }
  if (!any) out.stop("drained");
}

const char* NodeCore::phase() const {
  return draining_ ? "draining" : "running";
}

std::string NodeCore::describe() const {
  const auto alive = std::count_if(children_.begin(), children_.end(),
                                   [](const Child& child) { return child.alive; });
  return "children=" + std::to_string(alive) + "/" + std::to_string(children_.size()) +
         " peers=" + std::to_string(peers_.size()) +
         " remote_ranks=" + std::to_string(remote_ranks_.size());
}

}  // namespace troupe
