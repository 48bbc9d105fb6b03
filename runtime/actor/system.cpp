#include "runtime/actor/system.hpp"

#include <chrono>
#include <future>

#include "runtime/actor/live_node.hpp"

namespace troupe {

namespace {
constexpr Duration kForceInDestructor = seconds(5);
}  // namespace

ActorSystem::ActorSystem(SystemOptions options, std::unique_ptr<Engine> engine)
    : node_(std::make_shared<LiveNode>(std::move(options), std::move(engine))) {}

ActorSystem::~ActorSystem() {
  if (!shutdown(Duration(0), kForceInDestructor).ok()) leave_behind(node_);
}

ActorRef ActorSystem::spawn(std::uint64_t name, const ActorType& type, std::shared_ptr<void> args) {
  return node_->spawn_root(root_id(node_->id(), name), type, std::move(args));
}

void ActorSystem::send(const ActorRef& from, const ActorRef& to, Message message) {
  node_->send({from, to, std::move(message)});
}

ActorRef ActorSystem::open_endpoint(std::function<void(const Envelope&)> receive) {
  return node_->open_endpoint(std::move(receive));
}

ActorRef ActorSystem::open_direct_endpoint(std::function<void(const Envelope&)> receive) {
  return node_->open_direct_endpoint(std::move(receive));
}

void ActorSystem::close_endpoint(const ActorRef& endpoint, EndReason reason) {
  node_->order_end(endpoint, reason, "closed");
}

void ActorSystem::watch(const ActorRef& watcher, const ActorRef& target) {
  if (HostPtr host = node_->table().find(watcher)) {
    host->post(Mail{{target, watcher, {}}, MailKind::kWatch, 0, {}});
  }
}

void ActorSystem::unwatch(const ActorRef& watcher, const ActorRef& target) {
  if (HostPtr host = node_->table().find(watcher)) {
    host->post(Mail{{target, watcher, {}}, MailKind::kUnwatch, 0, {}});
  }
}

Time ActorSystem::now() const {
  return node_->now();
}

bool ActorSystem::alive(const ActorRef& ref) const {
  return node_->is_local(ref) && node_->table().contains(ref);
}

std::size_t ActorSystem::actor_count() const {
  return node_->table().size();
}

std::vector<ActorSnapshot> ActorSystem::list() const {
  std::vector<ActorSnapshot> rows;
  for (const auto& [ref, host] : node_->table().all()) {
    const Observed& seen = host->actor().observed();
    rows.push_back({seen.ref, seen.parent, seen.kind, seen.phase(), seen.in(), seen.out(),
                    seen.done(), seen.mailbox(), seen.busy(), seen.longest(), seen.subject()});
  }
  return rows;
}

Result<std::string> ActorSystem::describe(const ActorRef& ref, Duration within) const {
  HostPtr host = node_->is_local(ref) ? node_->table().find(ref) : HostPtr{};
  if (!host) return Error{Code::kNotFound, "no live actor " + to_string(ref) + " on this node"};
  auto promise = std::make_shared<std::promise<Result<std::string>>>();
  auto answer = promise->get_future();
  host->post(Mail{
      {}, MailKind::kDescribe, 0, std::make_shared<Inquiry>([promise](Result<std::string> text) {
        promise->set_value(std::move(text));
      })});
  host = {};
  if (answer.wait_for(std::chrono::nanoseconds(within.value)) != std::future_status::ready) {
    return Error{Code::kDeadline, to_string(ref) + " did not answer in time"};
  }
  return answer.get();
}

void ActorSystem::kill(const ActorRef& ref) {
  if (HostPtr host = node_->table().find_any_life(ref)) {
    host->actor().order_end(EndReason::kKilled, "killed by an operator");
  }
}

void ActorSystem::set_remote(RemoteRouter* router) {
  node_->set_remote(router);
}

void ActorSystem::deliver_from_remote(Envelope envelope) {
  node_->deliver_from_remote(std::move(envelope));
}

void ActorSystem::watch_from_remote(const ActorRef& watcher, const ActorRef& target) {
  node_->watch_from_remote(watcher, target);
}

void ActorSystem::unwatch_from_remote(const ActorRef& watcher, const ActorRef& target) {
  node_->unwatch_from_remote(watcher, target);
}

void ActorSystem::node_lost(NodeId node, std::uint32_t incarnation) {
  node_->node_lost(node, incarnation);
}

std::uint64_t ActorSystem::dead_letters() const {
  return node_->dead_letters();
}

std::uint64_t ActorSystem::in_flight_launches() const {
  return node_->launches().in_flight();
}

Status ActorSystem::shutdown(Duration drain, Duration force) {
  return node_->shutdown(drain, force);
}

}  // namespace troupe
