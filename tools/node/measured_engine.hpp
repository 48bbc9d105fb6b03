// An engine whose steps are timed, so that the simulator can be told what they cost.
//
// `troupe node --cost-file FILE` wraps each rank's engine in one. At the node's end FILE holds a
// `simulated:` section with the fit (runtime/cost/step_fit.hpp): what `troupe simulate --config
// FILE` and `--device simulated --config FILE` take their step times from.
//
// A step is forward and sample, and the pause before it if the device came straight from the step
// before (kPauseMost): the host's part of a step, which a simulation has nowhere else.
//
// Threads: those of StepEngine; StepRecord locks, as ranks share it.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/cost/step_fit.hpp"
#include "runtime/device/step_engine.hpp"

namespace troupe {

class StepRecord {
 public:
  void add(const EngineStep& step) {
    const std::lock_guard lock(mutex_);
    fit_.add(step);
  }
  /// The configuration's text. Errors: kUnavailable, too few steps.
  Result<std::string> text() const;
  /// Writes it to the file. Errors: kIo, and those of text().
  Status save(const std::string& path) const;

 private:
  mutable std::mutex mutex_;
  StepFit fit_;
};

class MeasuredEngine final : public StepEngine {
 public:
  static constexpr Duration kPauseMost = milliseconds(2);

  MeasuredEngine(std::unique_ptr<StepEngine> engine, std::shared_ptr<StepRecord> record)
      : engine_(std::move(engine)), record_(std::move(record)) {}

  Status forward(const StepPlan& plan, const std::atomic<bool>& cancelled) override;
  Result<StepResult> sample(const StepPlan& plan, const std::atomic<bool>& cancelled) override;

 private:
  using Clock = std::chrono::steady_clock;
  std::unique_ptr<StepEngine> engine_;
  std::shared_ptr<StepRecord> record_;
  EngineStep step_;  ///< the one under way
  std::uint64_t number_ = 0;
  bool under_way_ = false;
  Clock::time_point begun_;
  Clock::time_point ended_;  ///< the step before
};

}  // namespace troupe
