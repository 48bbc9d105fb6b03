// Actors: a core behind one virtual call.
//
// A core is a plain struct with `using Accepts = Protocol<M...>`, `static constexpr const char*
// kKind` and one `void on(const M&, Context&, Effects&)` a message. It never sees CAF, a clock, a
// thread or outside randomness: a unit test calls it, the simulation drives it, the live host runs
// it.
//
// A core with a row for each of very many things may have `void fetch_ahead(const M&) const`: begin
// to bring what handling that message will touch into the cache. It changes nothing.
//
// `CoreActor<Core>` turns a message of forgotten type into the right overload. A message outside of
// Accepts is a wiring fault: it fails an assertion and ends the actor.
#pragma once

#include <concepts>
#include <memory>
#include <string>

#include "runtime/actor/effects.hpp"
#include "runtime/actor/subject.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

/// What a handler may know about its surroundings.
struct Context {
  Time now;
  ActorRef self;
  ActorRef from;              ///< the sender; nobody for timers, Done and system messages
  Rng& rng;                   ///< seeded by hash(world seed, actor id, life)
  std::uint64_t& next_child;  ///< counter of this life's children
  const Message& message;     ///< that is handled

  /// The message that is handled, to be kept without copying it. Requires: it is an M.
  template <class M>
  Shared<M> shared() const {
    return Shared<M>(message);
  }

  /// Starts a child: effects.spawn with the next id, life 1. Returns its reference.
  template <class Core>
  Ref<typename Core::Accepts> spawn(Effects& out, typename Core::Args args);
  /// Starts a child's next life: same id, life + 1. Requires: that life has ended.
  template <class Core>
  Ref<typename Core::Accepts> respawn(Effects& out, const ActorRef& child,
                                      typename Core::Args args);
};

/// Its address stands for the type of a core.
template <class Core>
inline constexpr char kCoreType = 0;

class Actor {
 public:
  virtual ~Actor() = default;
  virtual const void* core_type() const { return nullptr; }
  virtual const char* kind() const = 0;
  /// One word or two on what it is doing, for the console: a string with static lifetime.
  virtual const char* phase() const = 0;
  /// What it is about; the same for all of its life.
  virtual Subject subject() const { return {}; }
  /// Its state in a few "key=value" words, for `troupe admin show`.
  virtual std::string describe() const = 0;
  virtual void handle(const Message& message, Context& context, Effects& out) = 0;
  /// This message was sent, to this life or one before, and will be handled soon. Only of types
  /// that say so (ActorType).
  virtual void fetch_ahead(const Message&) const {}
};

template <class Core, class M>
concept Fetches = requires(const Core& core, const M& message) {
  core.fetch_ahead(message);
};

template <class Core>
class CoreActor final : public Actor {
 public:
  explicit CoreActor(Core core) : core_(std::move(core)) {}

  const void* core_type() const override { return &kCoreType<Core>; }
  const char* kind() const override { return Core::kKind; }
  const char* phase() const override {
    if constexpr (requires { core_.phase(); }) return core_.phase();
    return "running";
  }
  Subject subject() const override {
    if constexpr (requires { core_.subject(); }) return core_.subject();
    return {};
  }
  std::string describe() const override {
    if constexpr (requires { core_.describe(); }) return core_.describe();
    return {};
  }
  void handle(const Message& message, Context& context, Effects& out) override {
    dispatch(message, context, out, typename Core::Accepts{});
  }
  void fetch_ahead(const Message& message) const override {
    fetch_ahead(message, typename Core::Accepts{});
  }
  Core& core() { return core_; }

 private:
  template <class... Ms>
  void fetch_ahead(const Message& message, Protocol<Ms...>) const {
    (fetch_ahead_as<Ms>(message) || ...);
  }
  template <class M>
  bool fetch_ahead_as(const Message& message) const {
    if constexpr (Fetches<Core, M>) {
      if (message.kind() != M::info.kind) return false;
      core_.fetch_ahead(detail::value_of<M>(message.payload()));
      return true;
    }
    return false;
  }
  template <class... Ms>
  void dispatch(const Message& message, Context& context, Effects& out, Protocol<Ms...>) {
    const std::uint16_t kind = message.kind();
    const bool known =
        ((kind == Ms::info.kind
              ? (core_.on(detail::value_of<Ms>(message.payload()), context, out), true)
              : false) ||
         ...);
    if constexpr (!Protocol<Ms...>::template accepts<Started>) {
      if (kind == Started::info.kind) return;
    }
    TROUPE_ASSERT(known, "a message arrived that this actor's protocol does not accept");
  }
  Core core_;
};

/// Requires: the actor is a Core.
template <class Core>
Core& core_of(Actor& actor) {
  TROUPE_ASSERT(actor.core_type() == &kCoreType<Core>, "the actor is of another kind");
  return static_cast<CoreActor<Core>&>(actor).core();
}

template <class Core>
std::unique_ptr<Actor> make_actor(void* args) {
  return std::make_unique<CoreActor<Core>>(
      Core(std::move(*static_cast<typename Core::Args*>(args))));
}

namespace detail {
template <class Core, class... Ms>
constexpr bool fetches(Protocol<Ms...>) {
  return (Fetches<Core, Ms> || ...);
}
}  // namespace detail

template <class Core>
Actor* make_actor_at(void* place, void* args) {
  static_assert(alignof(CoreActor<Core>) <= alignof(std::max_align_t));
  return new (place) CoreActor<Core>(Core(std::move(*static_cast<typename Core::Args*>(args))));
}

template <class Core>
inline constexpr ActorType actor_type{Core::kKind,
                                      &make_actor<Core>,
                                      Core::Accepts::template accepts<Drain>,
                                      detail::fetches<Core>(typename Core::Accepts{}),
                                      &make_actor_at<Core>,
                                      sizeof(CoreActor<Core>)};

template <class Core>
Ref<typename Core::Accepts> Context::spawn(Effects& out, typename Core::Args args) {
  ActorRef child{self.node, self.incarnation, child_id(self, ++next_child), 1};
  out.spawn({child, &actor_type<Core>, std::make_shared<typename Core::Args>(std::move(args))});
  return Ref<typename Core::Accepts>(child);
}

template <class Core>
Ref<typename Core::Accepts> Context::respawn(Effects& out, const ActorRef& child,
                                             typename Core::Args args) {
  ActorRef next = child;
  ++next.life;
  out.spawn({next, &actor_type<Core>, std::make_shared<typename Core::Args>(std::move(args))});
  return Ref<typename Core::Accepts>(next);
}

}  // namespace troupe
