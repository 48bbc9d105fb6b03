// The threads that run ComputeJobs of a live node: CPU work that would hold up an actor, and on one
// thread more, which has a queue of its own, jobs that wait for a disk (JobLength::kBlocks).
//
// Invariants
// 1. Every job that was submitted gets exactly one answer: its result, or `failed` with
//    kUnavailable (queue full, or the pool is stopping), kDeadline (its deadline passed before it
//    was started), kInternal (it threw); a job that was cancelled while queued gets none.
// 2. At most `queue_max` jobs of each of the two kinds wait.
// 3. After `stop` has returned true no thread of the pool is left.
//
// Threads: all calls from any thread; answers come on a pool thread, or on the caller's if the job
// is refused. An answer must not block.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/actor/compute.hpp"

namespace troupe {

class ComputePool {
 public:
  using Answer = std::function<void(Message)>;

  ComputePool(std::size_t threads, std::size_t queue_max);
  /// Waits for the jobs that are running.
  ~ComputePool();
  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;

  /// Returns a ticket for `cancel`.
  std::uint64_t submit(OpId op, std::shared_ptr<const ComputeJob> job, Time deadline,
                       Answer answer);
  /// True: it was still queued and will never run. A running job runs to its end.
  bool cancel(std::uint64_t ticket);
  std::size_t queued() const;

  /// Refuses what is queued, and waits until `until` for what runs. False: a job still runs, its
  /// thread is left; call again or let the destructor wait. Idempotent.
  bool stop(Time until);

 private:
  struct Waiting {
    std::uint64_t ticket;
    OpId op;
    std::shared_ptr<const ComputeJob> job;
    Time deadline;
    Answer answer;
  };

  struct Lane {
    std::condition_variable work;
    std::deque<Waiting> queue;
  };
  Lane& lane_of(const ComputeJob& job) {
    return lanes_[job.length() == JobLength::kBlocks ? 1 : 0];
  }
  void run(Lane& lane);

  const std::size_t queue_max_;
  mutable std::mutex mutex_;
  std::condition_variable left_;
  std::array<Lane, 2> lanes_;  ///< of CPU work, and of what waits for a disk
  std::uint64_t next_ticket_ = 0;
  std::size_t running_threads_ = 0;
  bool stopping_ = false;
  std::mutex join_;  ///< one stop() at a time joins
  std::vector<std::thread> threads_;
};

}  // namespace troupe
