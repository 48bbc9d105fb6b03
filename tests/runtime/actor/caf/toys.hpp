// Actors and devices for the tests of the live system.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "runtime/actor/message_type.hpp"
#include "runtime/actor/supervisor.hpp"
#include "runtime/actor/system.hpp"
#include "runtime/actor/timer_service.hpp"

namespace troupe::toys {

/// The system under test: on CAF (caf_engine.cpp), or on plain threads (thread_engine.cpp) where
/// a sanitizer must see every access.
class System : public ActorSystem {
 public:
  explicit System(SystemOptions options);
};

/// Waits for something that happens on other threads. False after 10 s.
inline bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 10'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// A library keeps a thread of its own only if it leaked one.
inline std::size_t thread_count() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

/// An endpoint that keeps what it got. May end before its system does.
class Inbox {
 public:
  explicit Inbox(ActorSystem& system)
      : ref_(system.open_endpoint([box = box_](const Envelope& envelope) {
          std::lock_guard lock(box->mutex);
          box->got.push_back(envelope);
          box->changed.notify_all();
        })) {}

  const ActorRef& ref() const { return ref_; }
  /// The first M from position `skip` on, or nothing after 10 s.
  template <class M>
  std::optional<M> wait(std::size_t skip = 0) {
    std::unique_lock lock(box_->mutex);
    std::optional<M> found;
    box_->changed.wait_for(lock, std::chrono::seconds(10), [&] {
      std::size_t left = skip;
      for (const auto& envelope : box_->got) {
        const M* message = envelope.message.as<M>();
        if (message == nullptr || left-- > 0) continue;
        found = *message;
        return true;
      }
      return false;
    });
    return found;
  }
  template <class M>
  std::size_t count() {
    std::lock_guard lock(box_->mutex);
    std::size_t total = 0;
    for (const auto& envelope : box_->got) total += envelope.message.as<M>() != nullptr ? 1 : 0;
    return total;
  }

 private:
  struct Box {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Envelope> got;
  };
  std::shared_ptr<Box> box_ = std::make_shared<Box>();
  ActorRef ref_;
};

/// Says `text` to the endpoint that asked.
struct Told {
  static constexpr MessageInfo info{0x7102, "told"};
  std::string text;
  std::uint64_t number = 0;
  ActorRef ref;
  static void fields(auto& self, auto&& visit) {
    visit("text", self.text);
    visit("number", self.number);
    visit("ref", self.ref);
  }
};

/// Does what its function says: `act(number)` with an effect list.
struct Act {
  static constexpr MessageInfo info{0x7101, "act"};
  std::uint64_t what = 0;
  std::uint64_t number = 0;
  ActorRef ref;
  static void fields(auto& self, auto&& visit) {
    visit("what", self.what);
    visit("number", self.number);
    visit("ref", self.ref);
  }
};

enum What : std::uint64_t {
  kEcho,        ///< tells the sender its number
  kForward,     ///< sends kEcho on to ref
  kWatch,       ///< ref
  kUnwatch,     ///< ref
  kCrash,       ///< sends first: must not arrive
  kStop,        ///< sends `number` farewells first
  kSpawn,       ///< a child
  kRespawn,     ///< the child's next life
  kEndChild,    ///< the last child
  kTimer,       ///< tag 1 in `number` ms
  kTwoTimers,   ///< tag 1 in 1 ms, replaced by 5 ms at once
  kLateTimer,   ///< tag 3 in 50 ms
  kLateCancel,  ///< sleeps until that timer's mail has queued, then cancels it
  kBlock,       ///< sleeps `number` ms
  kLaunch,      ///< op `number` on stream 0
  kCancelOp,    ///< op `number`
  kCompute,     ///< a job of `number` ms
  kBrief,       ///< the same as a brief one
  kRandom,      ///< tells a number of its rng
};

/// Tells `boss` all that happens to it.
struct Toy {
  using Accepts =
      Protocol<Act, Down, Undeliverable, TimerFired, Drain, Done<StepResult>, Done<Told>, Started>;
  struct Args {
    ActorRef boss;
    bool crash_at_birth = false;
    bool stop_on_drain = true;
  };
  static constexpr const char* kKind = "toy";

  explicit Toy(const Args& args) : args_(args) {
    if (args.crash_at_birth) throw std::runtime_error("no core");
  }
  std::string describe() const { return "turns=" + std::to_string(turns_); }

  void tell(Effects& out, std::string text, std::uint64_t number = 0, ActorRef ref = {}) {
    out.send(args_.boss, make_message<Told>(std::move(text), number, ref));
  }
  void on(const Started&, Context& context, Effects& out) {
    tell(out, "started", context.self.life, context.self);
  }
  void on(const Down& down, Context&, Effects& out) {
    tell(out, "down " + std::string(to_string(down.reason)), 0, down.ref);
  }
  void on(const Undeliverable& lost, Context&, Effects& out) { tell(out, "lost", 0, lost.to); }
  void on(const TimerFired& fired, Context&, Effects& out) { tell(out, "timer", fired.tag.key); }
  void on(const Drain&, Context&, Effects& out) {
    if (args_.stop_on_drain) out.stop("drained");
  }
  void on(const Done<StepResult>& done, Context&, Effects& out) {
    tell(out, done.failed ? std::string(to_string(done.error.code)) : "done", done.op.value);
  }
  void on(const Done<Told>& done, Context&, Effects& out) {
    tell(out, done.failed ? std::string(to_string(done.error.code)) : done.output.text,
         done.op.value);
  }
  void on(const Act& act, Context& context, Effects& out);

  Args args_;
  std::uint64_t turns_ = 0;
  std::vector<ActorRef> children_;
};

}  // namespace troupe::toys
