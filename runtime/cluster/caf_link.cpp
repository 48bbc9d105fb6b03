#include "runtime/cluster/caf_link.hpp"

#include <atomic>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/io/broker.hpp>
#include <caf/io/middleman.hpp>
#include <caf/logger.hpp>
#include <future>
#include <mutex>

#include "runtime/base/monotonic.hpp"

namespace troupe {

/// The one message type that crosses the wire: a piece of a frame.
struct LinkBytes {
  std::string bytes;
  bool more = false;  ///< the frame goes on
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& inspector, LinkBytes& message) {
  return inspector(caf::meta::type_name("troupe.LinkBytes"), message.bytes, message.more);
}

namespace {

using FlushAtom = caf::atom_constant<caf::atom("flush")>;
using WakeAtom = caf::atom_constant<caf::atom("wake")>;
using LeaveAtom = caf::atom_constant<caf::atom("leave")>;

constexpr Duration kDialMax = seconds(2);
/// CAF ends a connection after this many of its heartbeats: the core has decided long before.
constexpr std::int64_t kCafSilentIntervals = 12;

std::chrono::nanoseconds chrono(Duration duration) {
  return std::chrono::nanoseconds(duration.value);
}

/// CAF's end waits until no thread holds its logger, and whoever spawns or publishes holds it on.
struct ForgetLogger {
  ~ForgetLogger() { caf::logger::set_current_actor_system(nullptr); }
};

class LinkActor final : public caf::io::broker, public LinkTransport {
 public:
  LinkActor(caf::actor_config& config, std::shared_ptr<LinkWorker> worker,
            std::optional<ClusterAddress> join, std::shared_ptr<std::promise<void>> gone,
            std::shared_ptr<const std::atomic<bool>> left_behind)
      : caf::io::broker(config),
        kept_(std::move(worker)),
        worker_(*kept_),
        join_(std::move(join)),
        left_behind_(std::move(left_behind)) {
    attach_functor([gone] { gone->set_value(); });
  }

  const char* name() const override { return "link"; }

  void dial() override {
    request(system().middleman().actor_handle(), chrono(kDialMax), caf::connect_atom::value,
            join_->host, join_->port)
        .then([this](const caf::node_id&, caf::strong_actor_ptr& peer,
                     const std::set<std::string>&) { dialed(peer); },
              [this](caf::error& failure) {
                if (*left_behind_) return quit();
                worker_.dial_failed(*this, "nobody answers at " + to_string(*join_) + " (" +
                                               system().render(failure) +
                                               "); is that node up, with --cluster-listen?");
                arm();
              });
  }

  void send(ConnectionId to, std::string piece, bool more) override {
    const auto at = peers_.find(to);
    if (at == peers_.end()) return;
    caf::io::broker::send(at->second, LinkBytes{std::move(piece), more});
  }

  void on_exit() override {
    if (!*left_behind_) worker_.ended();
    peers_.clear();
    numbers_.clear();
  }

 protected:
  caf::behavior make_behavior() override {
    set_down_handler([this](caf::down_msg& down) { lost(down); });
    // Any peer may send an exit; only closing() ends the link.
    set_exit_handler([](caf::exit_msg&) {});
    set_default_handler(caf::drop);
    wake();
    return {[this](const LinkBytes& message) { received(message); },
            [this](FlushAtom) {
              if (!*left_behind_) worker_.flush(*this);
            },
            [this](WakeAtom, Time::Underlying armed) {
              if (armed == armed_.value) wake();
            },
            [this](LeaveAtom) { leave(); }};
  }

 private:
  ConnectionId number(const caf::strong_actor_ptr& peer) {
    const auto [at, is_new] =
        numbers_.emplace(caf::actor_cast<caf::actor_addr>(peer), ConnectionId());
    if (is_new) {
      at->second = ConnectionId(++last_number_);
      peers_.emplace(at->second, caf::actor_cast<caf::actor>(peer));
      monitor(peer);
    }
    return at->second;
  }

  void dialed(const caf::strong_actor_ptr& peer) {
    if (*left_behind_) return quit();
    if (peer == nullptr) {
      worker_.dial_failed(*this, to_string(*join_) + " is no Troupe node");
    } else if (peer->node() == node()) {
      worker_.dial_failed(*this, to_string(*join_) + " is this node");
    } else {
      worker_.connected(*this, number(peer));
    }
    arm();
  }

  void received(const LinkBytes& message) {
    if (*left_behind_) return quit();
    const auto& peer = current_sender();
    if (peer == nullptr || peer->node() == node()) return;
    worker_.received(*this, number(peer), message.bytes, message.more);
    arm();
    end_if_left();
  }

  void lost(const caf::down_msg& down) {
    if (*left_behind_) return quit();
    const auto at = numbers_.find(down.source);
    if (at == numbers_.end()) return;
    const ConnectionId connection = at->second;
    numbers_.erase(at);
    peers_.erase(connection);
    worker_.closed(*this, connection, "its connection closed");
    arm();
    end_if_left();
  }

  void wake() {
    if (*left_behind_) return quit();
    worker_.wake(*this);
    armed_ = Time();
    arm();
    end_if_left();
  }

  /// One wake is pending, for the next time that anything is due or earlier: every frame moves the
  /// time at which its peer counts as silent, and a wake that finds nothing due costs less than a
  /// timer for each frame.
  void arm() {
    const Time next = worker_.next_wake();
    if (armed_ != Time() && armed_ <= next) return;
    armed_ = next;
    const Duration delay = std::max(next - monotonic_now(), Duration(0));
    delayed_send(this, chrono(delay), WakeAtom::value, armed_.value);
  }

  void leave() {
    if (*left_behind_) return quit();
    worker_.leave(*this);
    end_if_left();
  }

  void end_if_left() {
    if (worker_.left()) quit();
  }

  const std::shared_ptr<LinkWorker> kept_;
  LinkWorker& worker_;
  const std::optional<ClusterAddress> join_;
  /// The node goes without waiting on: what the worker uses (system, callbacks) is about to end.
  const std::shared_ptr<const std::atomic<bool>> left_behind_;
  std::map<caf::actor_addr, ConnectionId> numbers_;
  std::map<ConnectionId, caf::actor> peers_;
  std::uint64_t last_number_ = 0;
  Time armed_;
};

}  // namespace

struct CafLink::Running {
  std::mutex mutex;
  caf::actor actor;  ///< under the mutex; empty once it was told to leave
  std::future<void> gone;
  std::shared_ptr<std::atomic<bool>> left_behind = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<LinkWorker> worker;  ///< for a last line in the log
};

CafLink::CafLink(Duration heartbeat)
    : heartbeat_(heartbeat), running_(std::make_unique<Running>()) {}

CafLink::~CafLink() = default;

void CafLink::configure(caf::actor_system_config& config) {
  config.add_message_type<LinkBytes>("troupe.LinkBytes");
  config.load<caf::io::middleman>();
  const caf::timespan interval = chrono(heartbeat_);
  config.set("middleman.heartbeat-interval", interval);
  config.set("middleman.connection-timeout", caf::timespan(interval * kCafSilentIntervals));
  config.set("middleman.enable-automatic-connections", false);
  // Frames are read where they arrive: a worker for them is a hand-over between threads each.
  config.set("middleman.workers", std::size_t{0});
  // Whom CAF's own handshake refuses says so on one side only; what differs between two builds is
  // refused by the membership core, with the reason on both.
  config.set("middleman.app-identifiers",
             std::vector<std::string>{"troupe-link-" + std::to_string(kLinkVersion)});
}

Status CafLink::start(CafHandle caf, std::shared_ptr<LinkWorker> worker,
                      const std::optional<ClusterAddress>& listen,
                      const std::optional<ClusterAddress>& join) {
  const ForgetLogger at_the_end;
  caf.system->registry().erase(caf::atom("SpawnServ"));
  caf.system->registry().erase(caf::atom("ConfigServ"));
  auto gone = std::make_shared<std::promise<void>>();
  running_->gone = gone->get_future();
  running_->worker = worker;
  {
    std::lock_guard lock(running_->mutex);
    caf::actor_config config{&caf.system->middleman().backend()};
    running_->actor = caf.system->spawn_class<LinkActor, caf::hidden>(
        config, std::move(worker), join, std::move(gone), running_->left_behind);
  }
  if (!listen) return ok_status();
  const auto port =
      caf.system->middleman().publish(running_->actor, listen->port, listen->host.c_str(), true);
  if (!port) {
    return Error{Code::kUnavailable, "cannot listen for nodes on " + to_string(*listen) + ": " +
                                         caf.system->render(port.error()) +
                                         "; is the port in use?"};
  }
  port_ = *port;
  return ok_status();
}

void CafLink::flush() {
  std::lock_guard lock(running_->mutex);
  if (running_->actor) caf::anon_send(running_->actor, FlushAtom::value);
}

void CafLink::closing() {
  {
    std::lock_guard lock(running_->mutex);
    if (!running_->actor) return;
    caf::anon_send(running_->actor, LeaveAtom::value);
    running_->actor = nullptr;
  }
  if (running_->gone.wait_for(chrono(kCloseMax)) == std::future_status::ready) return;
  *running_->left_behind = true;
  running_->worker->left_behind();
}

}  // namespace troupe
