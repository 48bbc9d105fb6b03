// The launches of a live node that devices have not ended yet.
//
// Devices tell the end of a launch to this book, from their threads or, modelled ones, at the
// launch with a time in the future. The book decides which end the actor hears of.
//
// Invariants
// 1. Each launch is answered exactly once: by the device's last word at its time, or by the
//    watchdog at the deadline (kHung); what comes later is dropped.
// 2. A launch whose owner died or whose watchdog fired stays in the book, unanswered, until the
//    device ends it: its slot and blocks are still the stream's.
// 3. Under its lock it calls nobody but the timers.
// 4. Ends are answered in the order of their times, and those that devices tell without a time
//    (Time(), real devices) in the order they are told.
//
// Threads: any. A device may keep the book's address as its sink for as long as it has launches in
// flight; the owner keeps the book alive until then.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "runtime/actor/timer_service.hpp"
#include "runtime/device/device.hpp"

namespace troupe {

class LaunchBook final : public CompletionSink {
 public:
  using Answer = std::function<void(Result<StepResult>)>;

  explicit LaunchBook(std::shared_ptr<TimerService> timers) : timers_(std::move(timers)) {}

  /// Before Device::launch: enters the launch and arms its watchdog. Returns its number.
  LaunchId open(Time deadline, Answer answer);
  /// The owner is dead: nobody is answered any more.
  void orphan(LaunchId launch);
  void complete(LaunchId launch, Time at, Result<StepResult> result) override;
  /// Launches that no device has ended yet, answered or not.
  std::size_t in_flight() const;

 private:
  struct Entry {
    Answer answer;  ///< empty: already answered, or the owner is dead
    TimerId watchdog;
    TimerId ending;  ///< a modelled device's word, waiting for its time
    std::optional<Result<StepResult>> result;
  };

  void hung(std::uint64_t launch);
  void due(std::uint64_t launch, const Time& at);
  void finish(std::uint64_t launch, std::unique_lock<std::mutex> lock, Result<StepResult> result);

  std::shared_ptr<TimerService> timers_;
  mutable std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::unordered_map<std::uint64_t, Entry> entries_;
};

}  // namespace troupe
