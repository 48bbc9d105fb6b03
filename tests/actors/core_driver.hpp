// Drives one core by calling it, so that a test reads as a sentence: tell it something, look at
// what it wanted.
//
//   CoreDriver<StreamTableCore> streams({});
//   const Turn turn = streams.hears(batch, from(rank));
//   EXPECT_EQ(turn.only<BatchTaken>(rank).step, 7u);
//
// A `Turn` is what one message made the core want, as data; nothing is carried out: no timer fires
// and no message arrives unless the test says so. Time stands still until `passes`.
//
// Threads: none. Ownership: a Turn keeps its messages alive.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/actor/actor.hpp"

namespace troupe {

/// A made-up actor: number 0 is nobody.
inline ActorRef actor(std::uint64_t local, std::uint32_t life = 1, std::uint32_t node = 0) {
  return ActorRef{NodeId(node), 1, local, life};
}

/// The effects of one handler.
class Turn {
 public:
  explicit Turn(Effects effects) : effects_(std::move(effects)) {}

  /// Every effect of one type, in order.
  template <class E>
  std::vector<E> all() const {
    std::vector<E> found;
    for (const Effect& effect : effects_.list()) {
      if (const auto* one = std::get_if<E>(&effect)) found.push_back(*one);
    }
    return found;
  }

  /// The messages of type M to `to`, in order.
  template <class M>
  std::vector<M> sent(const ActorRef& to) const {
    std::vector<M> found;
    for (const auto& send : all<effect::Send>()) {
      const M* message = send.message.as<M>();
      if (message != nullptr && send.to == to) found.push_back(*message);
    }
    return found;
  }
  /// How many messages of type M went out, to whomever.
  template <class M>
  std::size_t count() const {
    std::size_t found = 0;
    for (const auto& send : all<effect::Send>()) found += send.message.as<M>() != nullptr ? 1 : 0;
    return found;
  }
  /// The one message of type M. Fails the test if there is none or several, or it went elsewhere.
  template <class M>
  M only(const ActorRef& to) const {
    const auto found = sent<M>(to);
    EXPECT_EQ(found.size(), 1u) << M::info.name << " to " << to_string(to) << "\n" << story();
    EXPECT_EQ(count<M>(), found.size()) << M::info.name << " went elsewhere\n" << story();
    return found.empty() ? M{} : found.front();
  }
  bool silent() const { return all<effect::Send>().empty(); }

  /// When the last timer that was set with this tag is due.
  std::optional<Time> timer(TimerTag tag) const {
    std::optional<Time> at;
    for (const auto& timer : all<effect::Timer>()) {
      if (timer.tag == tag) at = timer.at;
    }
    return at;
  }
  bool cancels_timer(TimerTag tag) const {
    for (const auto& cancel : all<effect::CancelTimer>()) {
      if (cancel.tag == tag) return true;
    }
    return false;
  }
  bool watches(const ActorRef& ref) const { return names<effect::Watch>(ref); }
  bool unwatches(const ActorRef& ref) const { return names<effect::Unwatch>(ref); }

  bool stops() const { return ends_with(EndReason::kStopped); }
  bool crashes() const { return ends_with(EndReason::kCrashed); }

  /// The last value of a metric, or nothing.
  std::optional<double> metric(std::string_view name) const {
    std::optional<double> value;
    for (const auto& note : all<effect::Note>()) {
      if (name == note.name) value = note.value;
    }
    return value;
  }

  /// Messages and launches in order, in words: "forward 3", "token_batch", "sample 3".
  std::vector<std::string> order() const {
    std::vector<std::string> words;
    for (const Effect& effect : effects_.list()) {
      if (const auto* send = std::get_if<effect::Send>(&effect)) {
        words.emplace_back(send->message.type().info.name);
      } else if (const auto* launch = std::get_if<effect::LaunchStep>(&effect)) {
        words.push_back((launch->kind == LaunchKind::kForward ? "forward " : "sample ") +
                        std::to_string(launch->plan->step));
      }
    }
    return words;
  }
  /// The same as one text, for messages of failed expectations.
  std::string story() const {
    std::string text;
    for (const auto& word : order()) text += word + "; ";
    return text;
  }

 private:
  template <class E>
  bool names(const ActorRef& ref) const {
    for (const auto& one : all<E>()) {
      if (one.ref == ref) return true;
    }
    return false;
  }
  bool ends_with(EndReason reason) const {
    for (const auto& end : all<effect::End>()) {
      if (!end.child && end.reason == reason) return true;
    }
    return false;
  }

  Effects effects_;
};

/// Who says it. A type of its own, so that a call reads `hears(message, from(rank))`.
struct Speaker {
  ActorRef ref;
};
inline Speaker from(const ActorRef& ref) {
  return Speaker{ref};
}

template <class Core>
class CoreDriver {
 public:
  explicit CoreDriver(const typename Core::Args& args, ActorRef self = actor(1))
      : self_(self), core_(args) {}

  template <class M>
  Turn hears(const M& message, Speaker speaker = {}) {
    static_assert(Core::Accepts::template accepts<M>, "outside of its protocol");
    const Message sent = make_message<M>(message);
    Context context{now_, self_, speaker.ref, rng_, next_child_, sent};
    Effects effects;
    core_.on(*sent.as<M>(), context, effects);
    return Turn(std::move(effects));
  }
  Turn starts(Speaker parent = {}) { return hears(Started{}, parent); }
  Turn timer_fires(TimerTag tag) { return hears(TimerFired{tag}); }
  Turn hears_of_end(const ActorRef& ref, EndReason reason = EndReason::kCrashed) {
    return hears(Down{ref, reason, "test"});
  }

  void passes(Duration time) { now_ = now_ + time; }
  Time now() const { return now_; }
  const ActorRef& self() const { return self_; }
  const Core& core() const { return core_; }

 private:
  ActorRef self_;
  Core core_;
  Time now_{seconds(1).value};
  Rng rng_{7};
  std::uint64_t next_child_ = 0;
};

}  // namespace troupe
