// A small fork-join pool: the threads of one model, which compute one forward pass together.
//
// Why own code: a forward pass forks and joins some 200 times, so the hand-over must cost
// microseconds; and the machine is shared, so idle workers must sleep. Workers spin for about 20
// microseconds, then block in the kernel until the next run.
//
// Invariants:
//   1. run() calls the task exactly once for each index and returns after the last call returned.
//   2. With one thread everything runs inside of run(), and no thread exists.
//   3. run() waits only for workers that entered it. One that the system has not woken by the time
//      all indices are taken is shut out, so that a busy machine does not stall every fork.
// Which worker gets which index is not defined: tasks must not depend on it beyond the use of the
// worker's own scratch space.
//
// Threads: one run() at a time, from any thread. Ownership: the pool joins its threads when it
// ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace troupe::cpu {

class ThreadPool {
 public:
  /// task(index, worker) with worker in [0, threads()).
  using Task = std::function<void(std::size_t index, std::size_t worker)>;

  /// Requires: threads > 0; the caller of run() is one of them.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t threads() const { return workers_.size() + 1; }

  /// Requires: task does not throw.
  void run(std::size_t count, const Task& task);

 private:
  void work(std::size_t worker);
  void take_indices(std::size_t worker);

  std::vector<std::thread> workers_;
  bool enter();
  void leave();

  // Written by run() while no worker is inside, read by workers that are.
  const Task* task_ = nullptr;
  std::size_t count_ = 0;

  std::atomic<std::size_t> next_{0};          // index to take
  std::atomic<std::uint32_t> inside_{0};      // workers in run(), and kOpen while more may enter
  std::atomic<std::uint32_t> generation_{0};  // grows with each run: what idle workers wait for
  std::atomic<bool> stopping_{false};
};

}  // namespace troupe::cpu
