#include "tools/admin/question_thread.hpp"

namespace troupe {

QuestionThread::~QuestionThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

bool QuestionThread::ask(std::function<void()> question) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kWaitingMax) return false;
  waiting_.push_back(std::move(question));
  changed_.notify_one();
  return true;
}

void QuestionThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const auto question = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    question();
    lock.lock();
  }
}

}  // namespace troupe
