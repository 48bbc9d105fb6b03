// One thread for what is too slow for an io thread and asks no actor: rendering /metrics.
//
// Jobs run one after another. At most `kWaitingMax` wait; the next is refused: scrapers come every
// few seconds, and a crowd of them is a fault. The destructor lets the running job end and drops
// the rest. Threads: `run` from any.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe {

class HostScrapes {
 public:
  static constexpr std::size_t kWaitingMax = 16;

  HostScrapes() : thread_([this] { work(); }) {}
  ~HostScrapes();

  /// False: too many wait already.
  bool run(std::function<void()> job);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace troupe
