// CPU work outside of actors: pure functions of immutable inputs.
//
// Tokenizing, hashing, grammar compilation. Live a job runs on a pool's threads, or, if it is
// brief, behind its actor's turn; simulated it runs inline and is charged `modelled_time`. Its
// result comes back as Done<Output>.
#pragma once

#include <memory>

#include "runtime/actor/system_messages.hpp"

namespace troupe {

enum class JobLength : std::uint8_t {
  kAny,
  kBrief,   ///< less than two hand-overs between threads take: a pool's thread is not worth it
  kBlocks,  ///< it waits for a disk: it runs on a thread of its own, and holds up no other job
};

class ComputeJob {
 public:
  /// What failed() does, for who has no job any more.
  using Failure = Message (*)(OpId op, Error error);

  virtual ~ComputeJob() = default;
  /// Pure: no clock, no globals, the same result every time. May throw: the op then fails.
  virtual Message run(OpId op) const = 0;
  /// The message that says why no result came (pool full, deadline, exception).
  Message failed(OpId op, Error error) const { return failure()(op, std::move(error)); }
  virtual Failure failure() const = 0;
  virtual Duration modelled_time() const = 0;
  virtual JobLength length() const = 0;
};

/// Its result, or why there is none: what a job throws ends the operation, nothing else.
Message run_job(const ComputeJob& job, OpId op);

/// A job from a function object that returns Result<Output>.
template <class Output, class Function>
class FunctionJob final : public ComputeJob {
 public:
  FunctionJob(Function function, Duration modelled, JobLength length)
      : function_(std::move(function)), time_(modelled), length_(length) {}

  Message run(OpId op) const override {
    Result<Output> result = function_();
    if (!result.ok()) return failed(op, result.error());
    return make_message<Done<Output>>(op, false, Error{}, std::move(result).value());
  }
  Failure failure() const override {
    return [](OpId op, Error error) {
      return make_message<Done<Output>>(op, true, std::move(error), Output{});
    };
  }
  Duration modelled_time() const override { return time_; }
  JobLength length() const override { return length_; }

 private:
  Function function_;
  Duration time_;
  JobLength length_;
};

template <class Output, class Function>
std::shared_ptr<const ComputeJob> make_job(Function function, Duration modelled_time,
                                           JobLength length = JobLength::kAny) {
  return std::make_shared<const FunctionJob<Output, Function>>(std::move(function), modelled_time,
                                                               length);
}

}  // namespace troupe
