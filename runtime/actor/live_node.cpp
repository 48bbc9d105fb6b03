#include "runtime/actor/live_node.hpp"

#include "runtime/actor/direct_host.hpp"

namespace troupe {

namespace {

/// An endpoint is an actor whose handler is somebody's function.
class EndpointActor final : public Actor {
 public:
  using Receive = std::function<void(const Envelope&)>;
  explicit EndpointActor(Receive receive) : receive_(std::move(receive)) {}
  const char* kind() const override { return "endpoint"; }
  const char* phase() const override { return "open"; }
  std::string describe() const override { return "endpoint"; }
  void handle(const Message& message, Context& context, Effects&) override {
    if (message.kind() == Started::info.kind) return;
    receive_({context.from, context.self, message});
  }

 private:
  Receive receive_;
};

std::unique_ptr<Actor> make_endpoint(void* args) {
  return std::make_unique<EndpointActor>(*static_cast<const EndpointActor::Receive*>(args));
}

constexpr ActorType kEndpointType{"endpoint", &make_endpoint};

}  // namespace

LiveNode::LiveNode(SystemOptions options, std::unique_ptr<Engine> engine)
    : options_(std::move(options)),
      timers_(std::make_shared<TimerService>()),
      launches_(std::make_shared<LaunchBook>(timers_)),
      pool_(options_.compute_threads, options_.compute_queue_max),
      engine_(std::move(engine)) {}

LiveNode::~LiveNode() {
  // A device that has not ended a launch may still tell the book; it must find one.
  if (launches_->in_flight() > 0) leave_behind(launches_);
}

Device& LiveNode::device(std::uint32_t index) {
  TROUPE_ASSERT(index < options_.devices.size(), "the node has no such device");
  return *options_.devices[index];
}

void LiveNode::note(const ActorRef& from, const effect::Note& note) {
  if (options_.notes != nullptr) options_.notes->note(now(), from, note);
}

void LiveNode::host_made() {
  hosts_.fetch_add(1, std::memory_order_relaxed);
}

void LiveNode::host_gone() {
  // Counted down under the lock only when somebody waits: births and deaths are frequent.
  if (!refusing_.load()) {
    hosts_.fetch_sub(1);
    if (!refusing_.load()) return;
    std::lock_guard lock(ending_mutex_);
    return ending_.notify_all();
  }
  std::lock_guard lock(ending_mutex_);
  hosts_.fetch_sub(1);
  ending_.notify_all();
}

void LiveNode::spawn(Birth birth) {
  const ActorRef ref = birth.ref;
  start(ref, engine_->start(*this, std::move(birth)));
}

void LiveNode::start(const ActorRef& ref, HostPtr host) {
  TROUPE_ASSERT(table_.insert(ref, host), "an actor with this id is still alive");
  host->post(Mail{{}, MailKind::kWake, 0, {}});
}

ActorRef LiveNode::spawn_root(std::uint64_t local, const ActorType& type,
                              std::shared_ptr<void> args) {
  const ActorRef ref{options_.node, options_.incarnation, local, 1};
  if (!refusing_.load()) spawn({ref, {}, &type, std::move(args)});
  return ref;
}

ActorRef LiveNode::next_endpoint() {
  constexpr std::uint64_t kEndpoints = 0x656e6470;
  const std::uint64_t number = next_endpoint_.fetch_add(1) + 1;
  const ActorRef all{options_.node, options_.incarnation, mix64(kEndpoints, options_.node.value),
                     1};
  return {options_.node, options_.incarnation, child_id(all, number), 1};
}

ActorRef LiveNode::open_endpoint(std::function<void(const Envelope&)> receive) {
  return spawn_root(next_endpoint().local, kEndpointType,
                    std::make_shared<EndpointActor::Receive>(std::move(receive)));
}

ActorRef LiveNode::open_direct_endpoint(std::function<void(const Envelope&)> receive) {
  const ActorRef ref = next_endpoint();
  if (refusing_.load()) return ref;
  auto deaf = std::make_shared<EndpointActor::Receive>([](const Envelope&) {});
  start(ref,
        DirectHost::make(*this, {ref, {}, &kEndpointType, std::move(deaf)}, std::move(receive)));
  return ref;
}

void LiveNode::forget(const ActorRef& ref) {
  table_.erase(ref);
}

void LiveNode::order_end(const ActorRef& ref, EndReason reason, std::string detail) {
  if (HostPtr host = table_.find(ref)) host->actor().order_end(reason, std::move(detail));
}

void LiveNode::send(Envelope envelope) {
  if (!envelope.to) return;
  if (is_local(envelope.to)) {
    if (HostPtr host = table_.find(envelope.to)) {
      return host->post(Mail{std::move(envelope), MailKind::kMessage, 0, {}});
    }
  } else if (envelope.to.node != options_.node) {
    if (RemoteRouter* router = remote_.load(std::memory_order_acquire)) {
      return router->route(std::move(envelope));
    }
  }
  undeliverable(envelope.from, envelope.to, envelope.message.kind());
}

void LiveNode::undeliverable(const ActorRef& from, const ActorRef& to, std::uint16_t kind) {
  dead_letters_.fetch_add(1, std::memory_order_relaxed);
  if (!from || kind < 0x0010) return;
  send({{}, from, make_message<Undeliverable>(to, kind)});
}

void LiveNode::tell_parent(const ActorRef& parent, const Message& down) {
  if (HostPtr host = table_.find(parent)) {
    host->post(Mail{{{}, parent, down}, MailKind::kChildEnded, 0, {}});
  }
}

void LiveNode::tell_watcher(const ActorRef& watcher, const ActorRef& target, const Message& down) {
  if (!is_local(watcher)) remote_watches_.remove_incoming(watcher, target);
  send({{}, watcher, down});
}

void LiveNode::tell_unknown(const ActorRef& watcher, const ActorRef& target) {
  send({{}, watcher, make_message<Down>(target, EndReason::kUnknown, "it was not there")});
}

bool LiveNode::watch(const ActorRef& watcher, const ActorRef& target) {
  RemoteRouter* router = remote_.load(std::memory_order_acquire);
  if (target.node != options_.node && router != nullptr) {
    if (remote_watches_.add_outgoing(watcher, target)) router->watch(watcher, target);
    return true;
  }
  HostPtr host = is_local(target) ? table_.find(target) : HostPtr{};
  if (host && host->actor().add_watcher(watcher)) return true;
  tell_unknown(watcher, target);
  return false;
}

void LiveNode::unwatch(const ActorRef& watcher, const ActorRef& target) {
  if (is_local(target)) {
    if (HostPtr host = table_.find(target)) host->actor().remove_watcher(watcher);
  } else if (remote_watches_.remove_outgoing(watcher, target)) {
    RemoteRouter* router = remote_.load(std::memory_order_acquire);
    if (router != nullptr) router->unwatch(watcher, target);
  }
}

void LiveNode::deliver_from_remote(Envelope envelope) {
  if (const Down* down = envelope.message.as<Down>()) {
    // Told already (the node was lost), or no longer wanted.
    if (!remote_watches_.remove_outgoing(envelope.to, down->ref)) return;
  }
  send(std::move(envelope));
}

void LiveNode::watch_from_remote(const ActorRef& watcher, const ActorRef& target) {
  HostPtr host = is_local(target) ? table_.find(target) : HostPtr{};
  remote_watches_.add_incoming(watcher, target);
  if (host && host->actor().add_watcher(watcher)) return;
  remote_watches_.remove_incoming(watcher, target);
  tell_unknown(watcher, target);
}

void LiveNode::unwatch_from_remote(const ActorRef& watcher, const ActorRef& target) {
  remote_watches_.remove_incoming(watcher, target);
  if (HostPtr host = table_.find(target)) host->actor().remove_watcher(watcher);
}

void LiveNode::node_lost(NodeId node, std::uint32_t incarnation) {
  const RemoteWatches::Lost lost = remote_watches_.take_node(node, incarnation);
  for (const auto& [watcher, target] : lost.outgoing) {
    send({{}, watcher, make_message<Down>(target, EndReason::kNodeLost, "its node is lost")});
  }
  for (const auto& [watcher, target] : lost.incoming) {
    if (HostPtr host = table_.find(target)) host->actor().remove_watcher(watcher);
  }
}

}  // namespace troupe
