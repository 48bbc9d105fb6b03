// The virtual world: carries out effects in virtual time, for both simulation drivers.
//
// What happens to an effect is decided here, once; a driver only says how a handler is run and how
// an actor's end is carried out (heap driver: a call; CAF driver: a mailbox and a real
// termination). So equal trace hashes of the two drivers mean that hosting changes nothing.
//
// Invariants
// 1. Every event is due at least 1 ns after its cause.
// 2. Events are delivered by (due, tie, seq).
// 3. What one actor sends is due at strictly increasing times, so that pairs stay FIFO even when
//    ties are explored; a Down follows the dead actor's last messages.
// 4. An actor's end removes its timers, cancels its launches and ends its children, deepest first.
// 5. The trace hash covers time, receiver, message kind and payload digest of every delivery.
// 6. What reaches a frozen node waits, in its order; nothing overtakes it when the node thaws.
//
// Threads: one. Ownership: the world owns actors; devices and note sinks outlive it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/actor/actor.hpp"
#include "runtime/actor/event_queue.hpp"
#include "runtime/actor/note_sink.hpp"
#include "runtime/actor/ref_list.hpp"
#include "runtime/actor/short_list.hpp"
#include "runtime/actor/timer_book.hpp"
#include "runtime/base/id_map.hpp"

namespace troupe {

/// How long messages travel. Constants are placeholders of a fast network, printed in reports:
/// 1 µs within a node (CAF.md section 4: 12 µs thread to actor is an upper bound), 50 µs between
/// nodes (half of CAF.md section 5's round trip of 126 µs).
struct LatencyModel {
  Duration local = microseconds(1);
  Duration remote = microseconds(50);
};

struct WorldOptions {
  std::uint64_t seed = 1;
  bool explore_ties = false;
  bool trace_hash = true;
  LatencyModel latency;
  std::vector<Device*> devices;
  NoteSink* notes = nullptr;
  /// Lost messages: asked for every send between nodes; true drops it. Seeded by the caller.
  std::function<bool(const Envelope&)> drop;
  /// Called at every delivery (console, tests); empty: nobody listens.
  std::function<void(Time, const Envelope&)> observer;
  /// Called after every delivery, when its effects and the ends that it caused are carried out. The
  /// actor: whom it reached; nullptr if it is not there, or not any more.
  std::function<void(const Envelope&, Actor*)> settled;
};

namespace detail {
struct EndActor {
  bool inside = false;  ///< of its entry's memory
  void operator()(Actor* actor) const {
    if (inside) return std::destroy_at(actor);
    delete actor;
  }
};
}  // namespace detail

class World : private CompletionSink {
 public:
  /// An actor of at most so many bytes stands in its entry: a request's does.
  static constexpr std::size_t kActorInside = 448;

  explicit World(WorldOptions options);
  ~World() override;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Starts an actor without a parent. `name` decides its id.
  template <class Core>
  Ref<typename Core::Accepts> spawn_root(NodeId node, std::uint64_t name,
                                         typename Core::Args args) {
    ActorRef ref{node, 1, root_id(node, name), 1};
    create(ref, ActorRef{}, actor_type<Core>,
           std::make_shared<typename Core::Args>(std::move(args)));
    post(now_, ref, make_message<Started>());
    return Ref<typename Core::Accepts>(ref);
  }
  /// A message from outside, due at `at`.
  void post(Time at, const ActorRef& to, Message message);
  /// Ends an actor (whatever its life is then) at `at`, as a fault.
  void kill(Time at, const ActorRef& ref);

  // Faults of nodes (world_faults.cpp).
  /// Until thaw() its actors get nothing: no message, no timer, no result. A kill gets through.
  /// `until`: when thaw() will be called; of two freezes at a time the later one counts.
  void freeze(NodeId node, Time until);
  /// Requires: frozen, and its time has come. Delivers at once what has waited.
  void thaw(NodeId node);
  /// What links do when a node was silent for too long: whoever watches across its border hears of
  /// an end, on both sides. The actors live on.
  void lose_node(NodeId node);

  /// Delivers the next event. False: none is left.
  bool step();
  /// Requires: pending() > 0.
  Time next_due() { return queue_.next_due(); }
  /// Delivers every event that is due at or before `until`.
  void run_until(Time until);

  Time now() const { return now_; }
  std::uint64_t events() const { return events_; }
  std::uint64_t trace_hash() const { return trace_.value(); }
  std::size_t pending() const { return queue_.size(); }
  std::size_t actor_count() const { return entries_.size(); }
  /// nullptr if it is not alive (in that life).
  Actor* find(const ActorRef& ref);
  /// The core of a live actor, for expectations of tests. Requires: it is a Core.
  template <class Core>
  Core& core(const ActorRef& ref) {
    Actor* actor = find(ref);
    TROUPE_ASSERT(actor != nullptr, "no live actor has this reference");
    return core_of<Core>(*actor);
  }

 protected:
  struct Op {
    OpId id;
    std::uint64_t launch = 0;  ///< 0: a compute
    bool scheduled = false;    ///< a Done event is in the queue
    EventHandle event;
    std::uint32_t device = 0;
    Time deadline;
    ComputeJob::Failure failure = nullptr;  ///< of a compute; the job itself has run
  };
  /// What a delivery touches comes first, on as few cache lines as can be.
  struct Entry {
    Entry() {}  // without zeros in `place`
    ActorRef ref;
    std::unique_ptr<Actor, detail::EndActor> actor;
    Time last_local;   ///< due time of its last message within the node
    Time last_remote;  ///< and to other nodes
    bool ending = false;
    bool watches_many = false;
    EndReason end_reason = EndReason::kStopped;
    RefList<3> watchers;  ///< one that ended may still be there, if it watched many
    /// Kept only while they are few: whoever watches thousands lives long, and they end before it.
    ShortList<ActorRef, 2> watching;
    ShortList<Op, 1> ops;
    TimerBook timers;
    Rng rng;
    std::uint64_t next_child = 0;
    ActorRef parent;
    std::unique_ptr<RefList<4>> children;  ///< nullptr: it never had any
    std::unique_ptr<std::string> end_detail;
    alignas(std::max_align_t) std::byte place[kActorInside];
    RefList<4>& child_list() {
      if (children == nullptr) children = std::make_unique<RefList<4>>();
      return *children;
    }
  };

  // What a driver supplies.
  virtual void started(Entry&) {}
  virtual void deliver(Entry& entry, const Envelope& envelope) { execute(entry, envelope); }
  /// Must lead to finish_end(ref), before it returns.
  virtual void terminate(Entry& entry) { finish_end(entry.ref); }

  /// Runs the handler and carries out its effects.
  void execute(Entry& entry, const Envelope& envelope);
  /// Takes a dead actor out of the books and tells its watchers.
  void finish_end(ActorRef ref);
  Entry* entry(const ActorRef& ref);
  /// Drivers whose hosts must be gone before the world is: ends everything.
  void end_all();

 private:
  struct LaunchOwner {
    ActorRef ref;
    OpId op;
  };

  void create(const ActorRef& ref, const ActorRef& parent, const ActorType& type,
              std::shared_ptr<void> args);
  void apply(Entry& entry, Effect& effect);
  void apply(Entry& entry, effect::Send& send);
  void apply(Entry& entry, effect::Timer& timer);
  void apply(Entry& entry, effect::CancelTimer& cancel);
  void apply(Entry& entry, effect::LaunchStep& launch);
  void apply(Entry& entry, effect::Cancel& cancel);
  void apply(Entry& entry, effect::Compute& compute);
  void apply(Entry& entry, effect::Watch& watch);
  void apply(Entry& entry, effect::Unwatch& unwatch);
  void apply(Entry& entry, effect::Spawn& spawn);
  void apply(Entry& entry, effect::End& end);
  void apply(Entry& entry, effect::Note& note);

  struct Frozen {
    NodeId node;
    Time until;
    std::vector<Event> held;
  };
  bool step_until(Time until);
  // What will be touched soon begins to travel to the cache: at 4,096 GPUs most of what a delivery
  // touches is far away (docs/simulation.md).
  /// Of a message that was sent: its receiver, or its rows there.
  void fetch_ahead(const ActorRef& to, const Message& message);
  /// Later, when the receiver has come: what its end touches.
  void fetch_timer(const Event& event);
  void look_ahead();
  Frozen* frozen(NodeId node);
  /// Whether the event waits for the thaw of its node.
  bool hold(Event& event);
  void dispatch(Event& event);
  void add_tree(const ActorRef& ref, std::vector<ActorRef>& all);
  void cut_watches(Entry& watched, NodeId lost);

  void complete(LaunchId launch, Time at, Result<StepResult> result) override;
  void schedule_done(Entry& entry, Op& op, Time at, Message done);
  void forget_timer(Entry& entry, const Event& event);
  void forget_op(Entry& entry, const Event& event);
  void undeliverable(const Event& event);
  void begin_end(Entry& entry, EndReason reason, std::string detail);
  void carry_out_ends();
  void end_tree(const ActorRef& ref);
  Time due_from(Entry& sender, NodeId to);
  void push_message(Time due, const ActorRef& from, const ActorRef& to, Message message);
  void trace(const Event& event);

  WorldOptions options_;
  EventQueue queue_;
  IdMap<std::uint64_t, Entry> entries_;  ///< by local id
  FlatMap<const Actor*> fetching_;       ///< by local id: those that fetch ahead
  std::vector<ActorRef> roots_;
  IdMap<std::uint64_t, LaunchOwner> launches_;
  std::uint64_t next_launch_ = 0;
  std::vector<ActorRef> ending_;
  std::vector<Frozen> frozen_;  ///< few, and mostly none
  Effects effects_;             ///< of the handler that runs
  Time now_;
  std::uint64_t events_ = 0;
  Digest trace_;
};

}  // namespace troupe
