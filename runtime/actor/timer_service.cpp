#include "runtime/actor/timer_service.hpp"

#include <chrono>

namespace troupe {

TimerService::TimerService() : thread_([this] { run(); }) {}

TimerService::~TimerService() {
  stop();
}

TimerId TimerService::schedule(Time at, Callback callback) {
  std::unique_lock lock(mutex_);
  if (stopping_) return {};
  const TimerId id{at, ++next_seq_};
  const auto place = timers_.emplace(id, std::move(callback)).first;
  const bool first = place == timers_.begin();
  lock.unlock();
  if (first) changed_.notify_one();
  return id;
}

bool TimerService::cancel(const TimerId& id) {
  Callback dropped;  // destroyed outside of the lock: it may own an actor
  std::lock_guard lock(mutex_);
  const auto place = timers_.find(id);
  if (place == timers_.end()) return false;
  dropped = std::move(place->second);
  timers_.erase(place);
  return true;
}

std::size_t TimerService::pending() const {
  std::lock_guard lock(mutex_);
  return timers_.size();
}

void TimerService::stop() {
  std::lock_guard one(join_);
  std::map<TimerId, Callback> dropped;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(timers_);
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void TimerService::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (timers_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = timers_.begin();
    const Time at = first->first.at;
    if (monotonic_now() < at) {
      // A new first timer, or stop, wakes this up; a cancelled one only costs a look.
      changed_.wait_until(
          lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at.value)));
      continue;
    }
    Callback due = std::move(first->second);
    timers_.erase(first);
    lock.unlock();
    due();
    due = nullptr;
    lock.lock();
  }
}

}  // namespace troupe
