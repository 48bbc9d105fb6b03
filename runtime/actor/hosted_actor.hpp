// One actor's life on a live node: runs its core and carries out its effects in real time.
//
// The counterpart of World (world.hpp) for one actor; the meaning of every effect is the same.
//
// Life: unborn → running → ending → ended. The core is made on the first turn, so that a
// constructor that throws is a crash like any other. Ending: its timers and operations are
// cancelled at once, its children are told to end; it ends when the last child has. While it waits
// its messages come back to their senders.
//
// Invariants
// 1. Started is the first message of a life.
// 2. After a timer was cancelled or replaced, no TimerFired of it reaches the core: each arming has
//    a number, and only the current one passes.
// 3. One Done an OpId, whatever device, pool, watchdog and cancel say.
// 4. Down goes out after the core is destroyed and its id is free, behind its last messages.
//
// Threads: `on_mail` and `bounce` from the host, one at a time; the part "any thread" from
// anywhere.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/actor/actor.hpp"
#include "runtime/actor/host.hpp"
#include "runtime/actor/observed.hpp"
#include "runtime/actor/timer_service.hpp"

namespace troupe {

class HostedActor {
 public:
  /// `self` owns this object.
  HostedActor(Host& self, LiveNode& node, Birth birth);
  ~HostedActor();
  HostedActor(const HostedActor&) = delete;
  HostedActor& operator=(const HostedActor&) = delete;

  /// False: it has ended, hand over no more.
  [[nodiscard]] bool on_mail(Mail& mail);
  /// A mail that came after the end.
  void bounce(const ReturnSlip& slip);

  // Any thread.
  const ActorRef& ref() const { return birth_.ref; }
  const ActorRef& parent() const { return birth_.parent; }
  bool drains() const { return birth_.type->drains; }
  Observed& observed() { return observed_; }
  const Observed& observed() const { return observed_; }
  /// The first order counts; it is carried out before the next message.
  void order_end(EndReason reason, std::string detail);
  bool end_ordered() const { return end_ordered_.load(std::memory_order_acquire); }
  /// False: it has ended.
  [[nodiscard]] bool add_watcher(const ActorRef& watcher);
  void remove_watcher(const ActorRef& watcher);

 private:
  struct ArmedTimer {
    std::uint64_t arming;
    TimerId id;
  };
  struct Op {
    OpId id;
    LaunchId launch;  ///< 0: a compute
    std::uint32_t device = 0;
    std::uint64_t ticket = 0;
    TimerId watchdog;
    std::shared_ptr<const ComputeJob> job;
  };

  void take_turn(Mail& mail);
  void be_born();
  void take_order();
  void hear(Mail& mail);
  void run(const Message& message, const ActorRef& from);
  void hear_while_ending(Mail& mail);
  void begin_end(EndReason reason, std::string detail);
  void let_go();
  void finish();

  // What each effect means (hosted_effects.cpp).
  void apply(effect::Send& send);
  void apply(effect::Timer& timer);
  void apply(effect::CancelTimer& cancel);
  void apply(effect::LaunchStep& launch);
  void apply(effect::Cancel& cancel);
  void apply(effect::Compute& compute);
  void compute_here(const effect::Compute& compute);
  void apply(effect::Watch& watch);
  void apply(effect::Unwatch& unwatch);
  void apply(effect::Spawn& spawn);
  void apply(effect::End& end);
  void apply(effect::Note& note);
  bool take_timer(const TimerTag& tag, std::uint64_t arming);
  bool take_op(OpId id);
  void drop_op(const Op& op);

  Host& self_;
  LiveNode& node_;
  Birth birth_;
  Observed observed_;

  // The host's turn only.
  enum class State : std::uint8_t { kUnborn, kRunning, kEnding, kEnded };
  State state_ = State::kUnborn;
  bool let_go_ = false;
  EndReason end_reason_ = EndReason::kStopped;
  std::uint32_t sent_ = 0;  ///< messages of this turn
  std::unique_ptr<Actor> actor_;
  Rng rng_;
  std::uint64_t next_child_ = 0;
  std::uint64_t next_arming_ = 0;
  std::string end_detail_;
  std::map<TimerTag, ArmedTimer> timers_;
  std::vector<Op> ops_;
  std::unordered_map<std::uint64_t, ActorRef> children_;
  std::unordered_set<ActorRef> watching_;

  // Any thread.
  std::atomic<bool> end_ordered_{false};
  std::mutex mutex_;  ///< guards what follows; a leaf: nothing is called under it
  bool ended_ = false;
  EndReason ordered_reason_ = EndReason::kStopped;
  std::string ordered_detail_;
  std::unordered_set<ActorRef> watchers_;
};

}  // namespace troupe
