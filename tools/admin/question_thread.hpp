// The one thread of the admin port that may wait for actors, so that no io thread does.
//
// Questions run one after another; each must end by itself (they wait with a deadline). At most
// `kWaitingMax` wait; the next is refused. The destructor lets the running one end and drops the
// rest. Threads: `ask` from any.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe {

class QuestionThread {
 public:
  static constexpr std::size_t kWaitingMax = 64;

  QuestionThread() : thread_([this] { run(); }) {}
  ~QuestionThread();

  /// False: too many wait already.
  bool ask(std::function<void()> question);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace troupe
