// Counters of live actors that anyone may read without asking the actor.
//
// One `Observed` block an actor: producers count arrivals, the consumer counts work, on different
// cache lines. Listing reads the blocks directly, so that a stuck actor shows as well. Times are
// taken from the time-stamp counter, calibrated once: two reads cost less than one clock call.
//
// Invariant: mailbox length = in − done ≥ 0. Threads: `arrived` from any thread, the rest from the
// thread that runs the actor; reads from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "runtime/actor/ref.hpp"
#include "runtime/actor/subject.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

class Observed {
 public:
  Observed(ActorRef self, ActorRef parent_ref, const char* actor_kind)
      : ref(self), parent(parent_ref), kind(actor_kind) {}

  const ActorRef ref;
  const ActorRef parent;
  const char* const kind;

  /// Once, by the thread that runs it.
  void is_about(const Subject& subject) {
    subject_number_.store(subject.number, std::memory_order_relaxed);
    subject_prefix_.store(subject.prefix, std::memory_order_release);
  }
  void arrived() { in_.fetch_add(1, std::memory_order_relaxed); }
  /// A handler ran from `start` to `end` (ticks), caused `sent` messages and left the actor in
  /// `phase` (static lifetime).
  void handled(std::uint64_t start, std::uint64_t end, std::uint32_t sent, const char* phase) {
    phase_.store(phase, std::memory_order_relaxed);
    const std::uint64_t ticks = end - start;
    bump(done_, 1);
    bump(busy_ticks_, ticks);
    bump(out_, sent);
    if (ticks > longest_ticks_.load(std::memory_order_relaxed)) {
      longest_ticks_.store(ticks, std::memory_order_relaxed);
    }
  }

  std::uint64_t in() const { return in_.load(std::memory_order_relaxed); }
  std::uint64_t out() const { return out_.load(std::memory_order_relaxed); }
  std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  std::uint64_t mailbox() const {
    const std::uint64_t d = done(), i = in();
    return i > d ? i - d : 0;
  }
  const char* phase() const { return phase_.load(std::memory_order_relaxed); }
  Subject subject() const {
    const char* prefix = subject_prefix_.load(std::memory_order_acquire);
    return {prefix, subject_number_.load(std::memory_order_relaxed)};
  }
  Duration busy() const;
  Duration longest() const;

  /// The time-stamp counter.
  static std::uint64_t ticks();
  /// Nanoseconds a tick, measured once against the monotonic clock.
  static double tick_ns();

 private:
  // Only the consumer writes these: a plain load and store is enough and cheaper than an atomic
  // add.
  static void bump(std::atomic<std::uint64_t>& counter, std::uint64_t by) {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  alignas(64) std::atomic<std::uint64_t> in_{0};
  alignas(64) std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> out_{0};
  std::atomic<std::uint64_t> busy_ticks_{0};
  std::atomic<std::uint64_t> longest_ticks_{0};
  std::atomic<const char*> phase_{"starting"};
  std::atomic<std::uint64_t> subject_number_{0};
  std::atomic<const char*> subject_prefix_{""};
};

}  // namespace troupe
