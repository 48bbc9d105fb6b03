// CPU work outside of actors: pure functions of immutable inputs.
//
// Tokenizing, hashing, grammar compilation. Live a job runs on a pool's threads; simulated it runs
// inline and is charged `modelled_time`. Its result comes back as Done<Output>.
#pragma once

#include <memory>

#include "runtime/actor/system_messages.hpp"

namespace troupe {

class ComputeJob {
 public:
  virtual ~ComputeJob() = default;
  /// Pure: no clock, no globals, the same result every time. May throw: the op then fails.
  virtual Message run(OpId op) const = 0;
  /// The message that says why no result came (pool full, deadline, exception).
  virtual Message failed(OpId op, Error error) const = 0;
  virtual Duration modelled_time() const = 0;
  /// It waits for a disk: it runs on a thread of its own, so that it holds up no other job.
  virtual bool blocks() const { return false; }
};

/// Its result, or why there is none: what a job throws ends the operation, nothing else.
Message run_job(const ComputeJob& job, OpId op);

/// A job from a function object that returns Result<Output>.
template <class Output, class Function>
class FunctionJob : public ComputeJob {
 public:
  FunctionJob(Function function, Duration modelled)
      : function_(std::move(function)), time_(modelled) {}

  Message run(OpId op) const override {
    Result<Output> result = function_();
    if (!result.ok()) return failed(op, result.error());
    return make_message<Done<Output>>(op, false, Error{}, std::move(result).value());
  }
  Message failed(OpId op, Error error) const override {
    return make_message<Done<Output>>(op, true, std::move(error), Output{});
  }
  Duration modelled_time() const override { return time_; }

 private:
  Function function_;
  Duration time_;
};

template <class Output, class Function>
std::shared_ptr<const ComputeJob> make_job(Function function, Duration modelled_time) {
  return std::make_shared<const FunctionJob<Output, Function>>(std::move(function), modelled_time);
}

/// The same of a function that waits for a disk.
template <class Output, class Function>
class BlockingJob final : public FunctionJob<Output, Function> {
 public:
  using FunctionJob<Output, Function>::FunctionJob;
  bool blocks() const override { return true; }
};

template <class Output, class Function>
std::shared_ptr<const ComputeJob> make_blocking_job(Function function) {
  return std::make_shared<const BlockingJob<Output, Function>>(std::move(function), Duration());
}

}  // namespace troupe
