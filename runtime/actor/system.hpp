// The live actor system of one node: actors on threads, real time, real devices.
//
// Use: make one with the node's id and devices, `spawn_root` what the node's roles need, `send`
// from any thread, `open_endpoint` for whatever is not an actor but wants to be sent to (an HTTP
// session, the link, a test), `shutdown` in the end. Actors mean here exactly what they mean in the
// simulation (world.hpp): the same cores, the same effects.
//
// Invariants
// 1. One pair's messages stay in order; delivery is at most once.
// 2. An actor's end ends its children first, removes its timers, cancels its operations, and brings
//    Down to its parent and watchers; what lies in its mailbox comes back as Undeliverable.
// 3. `shutdown` ends within drain + force + 1 s. If a handler or a compute job does not return by
//    then, it answers kHung and names the actors; the destructor then leaves their threads behind
//    (never destroyed, never joined) rather than hang.
// 4. No device calls back into a system that is gone.
//
// Threads: every call from any thread. `shutdown`, `describe` and the destructor wait and must not
// be called from an actor or an endpoint. Ownership: devices, notes and the router outlive the
// system; a router is set before the first message that needs it.
// Link troupe_actor_caf: it holds the constructor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/actor/actor.hpp"
#include "runtime/actor/note_sink.hpp"

namespace troupe {

class CafSetup;
class Engine;
class LiveNode;
struct CafHandle;

struct SystemOptions {
  NodeId node;
  std::uint32_t incarnation = 1;
  std::uint64_t seed = 1;
  std::size_t scheduler_threads = 2;
  std::size_t compute_threads = 1;
  std::size_t compute_queue_max = 1024;
  std::vector<Device*> devices;
  NoteSink* notes = nullptr;  ///< may be nullptr; called from many threads
  CafSetup* caf = nullptr;    ///< what else CAF shall load (caf_handle.hpp), or nullptr
};

/// One row of the listing; counters are read, the actor is not asked.
struct ActorSnapshot {
  ActorRef ref;
  ActorRef parent;
  const char* kind = "";
  const char* phase = "";
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint64_t done = 0;
  std::uint64_t mailbox = 0;
  Duration busy;
  Duration longest;
  Subject subject;
};

/// The link to other nodes. Called from scheduler threads; must not block.
class RemoteRouter {
 public:
  virtual ~RemoteRouter() = default;
  virtual void route(Envelope envelope) = 0;
  /// A local actor watches one elsewhere. The answer is a Down, through deliver_from_remote.
  virtual void watch(const ActorRef& watcher, const ActorRef& target) = 0;
  virtual void unwatch(const ActorRef& watcher, const ActorRef& target) = 0;
};

class ActorSystem {
 public:
  explicit ActorSystem(SystemOptions options);
  /// With an engine of one's own (tests).
  ActorSystem(SystemOptions options, std::unique_ptr<Engine> engine);
  /// Like shutdown(0, 5 s).
  ~ActorSystem();
  ActorSystem(const ActorSystem&) = delete;
  ActorSystem& operator=(const ActorSystem&) = delete;

  /// Starts an actor without a parent. `name` decides its id. Requires: nobody of that name lives.
  /// Once a shutdown has begun nothing starts: messages to the reference come back.
  template <class Core>
  Ref<typename Core::Accepts> spawn_root(std::uint64_t name, typename Core::Args args) {
    return Ref<typename Core::Accepts>(
        spawn(name, actor_type<Core>, std::make_shared<typename Core::Args>(std::move(args))));
  }

  void send(const ActorRef& from, const ActorRef& to, Message message);

  /// A foreign actor: `receive` is called for each message to it, one at a time, on scheduler
  /// threads; it must not block. If it throws, the endpoint ends like a crashed actor.
  ActorRef open_endpoint(std::function<void(const Envelope&)> receive);
  /// The same without a mailbox: `receive` runs in the turn of whoever sends, so that it may run on
  /// several threads at once; one sender's messages stay in order. It must not block.
  /// Requires: not called by an actor.
  ActorRef open_direct_endpoint(std::function<void(const Envelope&)> receive);
  /// Watchers get Down. Afterwards `receive` is not called again; a call that runs goes on.
  void close_endpoint(const ActorRef& endpoint, EndReason reason = EndReason::kStopped);
  /// An endpoint watches: Down comes to its `receive`. In order with messages to the endpoint, and
  /// undone by its end.
  void watch(const ActorRef& watcher, const ActorRef& target);
  void unwatch(const ActorRef& watcher, const ActorRef& target);

  Time now() const;
  bool alive(const ActorRef& ref) const;
  std::size_t actor_count() const;
  /// Everybody, by reference. Asks nobody, so that a stuck actor shows as well.
  std::vector<ActorSnapshot> list() const;
  /// Asks the actor itself; kDeadline if it has not answered after `within`.
  Result<std::string> describe(const ActorRef& ref, Duration within) const;
  /// Ends an actor, whatever its life is, in the name of an operator.
  void kill(const ActorRef& ref);

  void set_remote(RemoteRouter* router);
  void deliver_from_remote(Envelope envelope);
  void watch_from_remote(const ActorRef& watcher, const ActorRef& target);
  void unwatch_from_remote(const ActorRef& watcher, const ActorRef& target);
  /// Every local watcher of its actors gets Down(kNodeLost); its own watches are forgotten. Covers
  /// all incarnations up to this one.
  void node_lost(NodeId node, std::uint32_t incarnation);

  /// Messages that found nobody, all in all.
  std::uint64_t dead_letters() const;
  /// Launches that no device has ended yet, those of dead actors included.
  std::uint64_t in_flight_launches() const;

  /// Ordered: no new roots; Drain to the roots that accept it, and a wait of at most `drain` for
  /// them; then everybody ends, children before parents, operations cancelled, within `force`.
  /// Repeated calls are harmless; after kHung another call tries again.
  Status shutdown(Duration drain, Duration force);

  /// For the other caf_*.cpp. Requires: the CAF engine.
  CafHandle caf();

 private:
  ActorRef spawn(std::uint64_t name, const ActorType& type, std::shared_ptr<void> args);

  std::shared_ptr<LiveNode> node_;
};

}  // namespace troupe
