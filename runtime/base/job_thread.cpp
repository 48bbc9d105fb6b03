#include "runtime/base/job_thread.hpp"

namespace troupe {

JobThread::~JobThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

bool JobThread::run(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= waiting_max_) return false;
  waiting_.push_back(std::move(job));
  changed_.notify_one();
  return true;
}

void JobThread::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const auto job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace troupe
