#include "runtime/cluster/link.hpp"

#include "runtime/cluster/caf_link.hpp"
#include "runtime/cluster/link_messages.hpp"

namespace troupe {

ClusterLink::ClusterLink(ClusterOptions options)
    : options_(std::move(options)), caf_(std::make_unique<CafLink>(options_.heartbeat)) {
  options_.registry.add<Undeliverable>();
  options_.registry.add<Down>();
  options_.registry.add(LinkProtocol{});
  options_.card.protocol_hash = options_.registry.protocol_hash();
  options_.card.heartbeat = options_.heartbeat;
}

ClusterLink::~ClusterLink() {
  caf_->closing();
}

CafSetup* ClusterLink::setup() {
  return caf_.get();
}

Status ClusterLink::start(ActorSystem& system, const ActorRef& root) {
  TROUPE_ASSERT(worker_ == nullptr, "a link starts once");
  if (options_.listen && options_.join) {
    return Error{Code::kInvalid, "a node either listens for others or joins one, not both"};
  }
  if (!options_.listen && !options_.join) return ok_status();
  options_.card.root = root;
  MembershipCore::Args membership;
  membership.role = options_.listen ? MembershipCore::Role::kListens : MembershipCore::Role::kJoins;
  membership.self = options_.card;
  worker_ = std::make_shared<LinkWorker>(system, options_.registry, options_.callbacks, membership,
                                         options_.queue_max);
  system.set_remote(this);
  return caf_->start(system.caf(), worker_, options_.listen, options_.join);
}

std::uint16_t ClusterLink::port() const {
  return caf_->port();
}

std::vector<PeerStatus> ClusterLink::peers() const {
  return worker_ ? worker_->peers() : std::vector<PeerStatus>();
}

std::vector<LostPeer> ClusterLink::lost_peers() const {
  return worker_ ? worker_->lost_peers() : std::vector<LostPeer>();
}

void ClusterLink::route(Envelope envelope) {
  if (worker_->route(envelope)) caf_->flush();
}

void ClusterLink::watch(const ActorRef& watcher, const ActorRef& target) {
  if (worker_->watch(watcher, target)) caf_->flush();
}

void ClusterLink::unwatch(const ActorRef& watcher, const ActorRef& target) {
  if (worker_->unwatch(watcher, target)) caf_->flush();
}

}  // namespace troupe
