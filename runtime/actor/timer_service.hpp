// Timers of a live node: one thread, any number of pending timers.
//
// Why not CAF's clock: an actor's timer must be cancellable for certain, and a cancelled one must
// cost no memory (a request sets a deadline that nearly always is cancelled).
//
// Invariants
// 1. A callback runs at most once, at or after its time, in order of (time, order of scheduling).
// 2. `cancel` returns true exactly if the callback will never run; the timer has left then.
// 3. After `stop` has returned no callback runs or will run.
//
// Threads: schedule, cancel and pending from any thread, callbacks included; callbacks run on the
// service's thread and must not block. `stop` from any thread but that one.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "runtime/base/monotonic.hpp"

namespace troupe {

/// A scheduled timer. Default: none; cancelling it does nothing.
struct TimerId {
  Time at;
  std::uint64_t seq = 0;
  friend auto operator<=>(const TimerId&, const TimerId&) = default;
};

class TimerService {
 public:
  using Callback = std::function<void()>;

  TimerService();
  ~TimerService();
  TimerService(const TimerService&) = delete;
  TimerService& operator=(const TimerService&) = delete;

  /// After `stop` the callback is dropped.
  TimerId schedule(Time at, Callback callback);
  /// False: it ran, is running, was cancelled, or never was.
  bool cancel(const TimerId& id);
  std::size_t pending() const;
  /// Drops what is pending and joins the thread. Idempotent.
  void stop();

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<TimerId, Callback> timers_;
  std::uint64_t next_seq_ = 0;
  bool stopping_ = false;
  std::mutex join_;  ///< one stop() at a time joins
  std::thread thread_;
};

}  // namespace troupe
