// Effects: everything that a core can want from the world, as data.
//
// A core fills an `Effects`; the host (live) or the world (simulation) carries them out in order
// after the handler returned. A handler that throws loses all of them. This is the one list; Io and
// Put join it with the store and the transport.
//
// Each asynchronous effect (Launch, Compute) carries an OpId that the core chose and a deadline;
// exactly one Done returns for it, also after a cancel.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/actor/compute.hpp"
#include "runtime/actor/envelope.hpp"
#include "runtime/actor/system_messages.hpp"
#include "runtime/device/device.hpp"

namespace troupe {

class Actor;

/// How to make an actor of one kind: its name and a constructor from its argument.
struct ActorType {
  const char* kind;
  std::unique_ptr<Actor> (*make)(void* args);  ///< moves from its argument: once a Birth
  bool drains = false;   ///< it accepts Drain: a shutdown asks it first and waits
  bool fetches = false;  ///< it has rows far away in memory (Actor::fetch_ahead)
  /// The same as make(), in memory of the caller's, of `size` bytes; nullptr: it does not.
  Actor* (*make_at)(void* place, void* args) = nullptr;
  std::size_t size = 0;
};

/// Which device of the node, and which of its streams.
struct StreamRef {
  std::uint32_t device = 0;
  StreamId stream;
};

namespace effect {

struct Send {
  ActorRef to;
  Message message;
};
struct Timer {
  TimerTag tag;
  Time at;
};
struct CancelTimer {
  TimerTag tag;
};
struct LaunchStep {
  OpId op;
  StreamRef stream;
  LaunchKind kind;
  std::uint32_t slot;
  std::shared_ptr<const StepPlan> plan;
  std::vector<OpId> after;
  Time deadline;
};
struct Cancel {
  OpId op;
};
struct Compute {
  OpId op;
  std::shared_ptr<const ComputeJob> job;
  Time deadline;
};
struct Watch {
  ActorRef ref;
};
struct Unwatch {
  ActorRef ref;
};
struct Spawn {
  ActorRef ref;  ///< the child: its id, and the life that begins
  const ActorType* type;
  std::shared_ptr<void> args;
};
struct End {
  ActorRef child;  ///< nobody: the actor itself
  EndReason reason;
  std::string detail;
};

enum class NoteKind : std::uint8_t { kCount, kGauge, kObserve, kInfo, kWarning };
/// A metric (name and value) or a log line (name is the event, text the rest).
struct Note {
  NoteKind kind;
  const char* name;
  double value = 0;
  std::shared_ptr<const std::string> label;  ///< most metrics have none
  /// A metric's label value, or the log line.
  const std::string& text() const {
    static const std::string kNone;
    return label == nullptr ? kNone : *label;
  }
};

}  // namespace effect

using Effect = std::variant<effect::Send, effect::Timer, effect::CancelTimer, effect::LaunchStep,
                            effect::Cancel, effect::Compute, effect::Watch, effect::Unwatch,
                            effect::Spawn, effect::End, effect::Note>;

/// Its functions are not inline: growing a vector of a variant is much code to compile.
class Effects {
 public:
  Effects() = default;
  Effects(Effects&&) noexcept;
  Effects& operator=(Effects&&) noexcept;
  ~Effects();

  /// Sends M to an actor that is known to accept it: anything else does not compile.
  template <class P, class M>
  void send(const Ref<P>& to, M message) {
    static_assert(P::template accepts<M>, "the receiver's protocol does not accept this message");
    send(to, make_message<M>(std::move(message)));
  }
  void send(const ActorRef& to, Message message);

  /// At most one timer a tag: a second replaces the first. A time in the past fires at once.
  void timer(TimerTag tag, Time at);
  void cancel_timer(TimerTag tag);

  void launch(effect::LaunchStep launch);
  void cancel(OpId op);
  void compute(OpId op, std::shared_ptr<const ComputeJob> job, Time deadline);

  void watch(const ActorRef& ref);
  void unwatch(const ActorRef& ref);

  void spawn(effect::Spawn spawn);
  /// Ends the actor itself; its children end with it.
  void stop(std::string detail = {});
  /// Ends the actor itself as crashed: its parent's restart rule applies.
  void fail(std::string detail);
  /// Ends a child. Requires: it is one.
  void end_child(const ActorRef& child, std::string detail = {});

  void count(const char* name, double by = 1, std::string label = {});
  void gauge(const char* name, double value, std::string label = {});
  void observe(const char* name, double value);
  void info(const char* event, std::string text);
  void warn(const char* event, std::string text);

  std::vector<Effect>& list() { return list_; }
  const std::vector<Effect>& list() const { return list_; }
  void clear();

 private:
  void note(effect::NoteKind kind, const char* name, double value, std::string text);
  std::vector<Effect> list_;
};

}  // namespace troupe
