// The inside of ActorSystem: who is alive, where a message goes, and how all of it ends.
//
// system.hpp is the manual; this is what HostedActor and the engine see of their node. No CAF.
//
// Shutdown: refuse new roots → Drain → order every root to end → wait for hosts and launches →
// pool, engine, timers. Each stage has a deadline.
//
// Locks: all are leaves (table shards, books, an actor's own); none is held while a host, a device,
// a router or a sink is called.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "runtime/actor/actor_table.hpp"
#include "runtime/actor/compute_pool.hpp"
#include "runtime/actor/launch_book.hpp"
#include "runtime/actor/remote_watches.hpp"
#include "runtime/actor/system.hpp"

namespace troupe {

class LiveNode {
 public:
  LiveNode(SystemOptions options, std::unique_ptr<Engine> engine);
  ~LiveNode();

  // For hosted actors.
  Time now() const { return monotonic_now(); }
  std::uint64_t seed() const { return options_.seed; }
  TimerService& timers() { return *timers_; }
  ComputePool& pool() { return pool_; }
  LaunchBook& launches() { return *launches_; }
  const LaunchBook& launches() const { return *launches_; }
  Device& device(std::uint32_t index);
  void note(const ActorRef& from, const effect::Note& note);
  void host_made();
  void host_gone();
  /// Requires: nobody with this id lives.
  void spawn(Birth birth);
  void forget(const ActorRef& ref);
  void order_end(const ActorRef& ref, EndReason reason, std::string detail);
  void tell_parent(const ActorRef& parent, const Message& down);
  void tell_watcher(const ActorRef& watcher, const ActorRef& target, const Message& down);

  // Messages and watches.
  void send(Envelope envelope);
  /// Nobody is at `to`: tells the sender, unless it was a message of the runtime.
  void undeliverable(const ActorRef& from, const ActorRef& to, std::uint16_t kind);
  /// False: it was not there; Down(kUnknown) is on its way.
  bool watch(const ActorRef& watcher, const ActorRef& target);
  void unwatch(const ActorRef& watcher, const ActorRef& target);
  void set_remote(RemoteRouter* router) { remote_.store(router, std::memory_order_release); }
  void deliver_from_remote(Envelope envelope);
  void watch_from_remote(const ActorRef& watcher, const ActorRef& target);
  void unwatch_from_remote(const ActorRef& watcher, const ActorRef& target);
  void node_lost(NodeId node, std::uint32_t incarnation);

  // For the system's callers.
  ActorRef spawn_root(std::uint64_t local, const ActorType& type, std::shared_ptr<void> args);
  ActorRef open_endpoint(std::function<void(const Envelope&)> receive);
  ActorRef open_direct_endpoint(std::function<void(const Envelope&)> receive);
  const ActorTable& table() const { return table_; }
  bool is_local(const ActorRef& ref) const {
    return ref.node == options_.node && ref.incarnation == options_.incarnation;
  }
  NodeId id() const { return options_.node; }
  std::uint64_t dead_letters() const { return dead_letters_.load(std::memory_order_relaxed); }
  Engine& engine() { return *engine_; }

  Status shutdown(Duration drain, Duration force);
  /// Whether all threads are gone, so that the node may be destroyed.
  bool closed() const { return closed_; }

 private:
  void drain_roots(Time until);
  bool end_everybody(Time until);
  Status hung() const;
  ActorRef next_endpoint();
  void start(const ActorRef& ref, HostPtr host);
  void tell_unknown(const ActorRef& watcher, const ActorRef& target);

  SystemOptions options_;
  std::shared_ptr<TimerService> timers_;
  std::shared_ptr<LaunchBook> launches_;  ///< outlives the node if a device still has launches
  ComputePool pool_;
  std::unique_ptr<Engine> engine_;
  ActorTable table_;
  RemoteWatches remote_watches_;
  std::atomic<RemoteRouter*> remote_{nullptr};
  std::atomic<std::uint64_t> dead_letters_{0};
  std::atomic<std::uint64_t> next_endpoint_{0};

  std::atomic<std::size_t> hosts_{0};  ///< hosts that exist, ended ones included
  std::atomic<bool> refusing_{false};
  std::mutex ending_mutex_;
  std::condition_variable ending_;
  std::mutex shutdown_mutex_;  ///< one shutdown at a time
  bool closed_ = false;
};

/// Keeps an object for ever, for threads that cannot be ended.
void leave_behind(std::shared_ptr<void> object);

}  // namespace troupe
