// One thread for jobs that an io thread must not do: what waits for actors, what takes
// milliseconds.
//
// Jobs run one after another; each must end by itself. At most `waiting_max` wait; the next is
// refused. The destructor lets the running one end and drops the rest. Threads: `run` from any.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe {

class JobThread {
 public:
  explicit JobThread(std::size_t waiting_max)
      : waiting_max_(waiting_max), thread_([this] { work(); }) {}
  ~JobThread();

  /// False: too many wait already.
  [[nodiscard]] bool run(std::function<void()> job);

 private:
  void work();

  const std::size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace troupe
