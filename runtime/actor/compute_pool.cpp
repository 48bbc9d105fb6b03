#include "runtime/actor/compute_pool.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include "runtime/base/monotonic.hpp"

namespace troupe {

Message run_job(const ComputeJob& job, OpId op) {
  try {
    return job.run(op);
  } catch (const std::exception& failure) {
    return job.failed(op, {Code::kInternal, failure.what()});
  } catch (...) {
    return job.failed(op, {Code::kInternal, "the job threw something unknown"});
  }
}

ComputePool::ComputePool(std::size_t threads, std::size_t queue_max)
    : queue_max_(queue_max), running_threads_(threads) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

ComputePool::~ComputePool() {
  while (!stop(monotonic_now() + seconds(3600))) continue;
}

std::uint64_t ComputePool::submit(OpId op, std::shared_ptr<const ComputeJob> job, Time deadline,
                                  Answer answer) {
  {
    std::lock_guard lock(mutex_);
    if (!stopping_ && queue_.size() < queue_max_) {
      queue_.push_back({++next_ticket_, op, std::move(job), deadline, std::move(answer)});
      work_.notify_one();
      return next_ticket_;
    }
  }
  answer(job->failed(op, {Code::kUnavailable, "the compute pool is full"}));
  return 0;
}

bool ComputePool::cancel(std::uint64_t ticket) {
  Waiting dropped;  // destroyed outside of the lock
  std::lock_guard lock(mutex_);
  const auto place = std::find_if(queue_.begin(), queue_.end(),
                                  [&](const Waiting& one) { return one.ticket == ticket; });
  if (place == queue_.end()) return false;
  dropped = std::move(*place);
  queue_.erase(place);
  return true;
}

std::size_t ComputePool::queued() const {
  std::lock_guard lock(mutex_);
  return queue_.size();
}

bool ComputePool::stop(Time until) {
  std::lock_guard one(join_);
  std::deque<Waiting> refused;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    refused.swap(queue_);
  }
  work_.notify_all();
  for (const auto& waiting : refused) {
    waiting.answer(
        waiting.job->failed(waiting.op, {Code::kUnavailable, "the compute pool is stopping"}));
  }
  {
    std::unique_lock lock(mutex_);
    const std::chrono::steady_clock::time_point limit{std::chrono::nanoseconds(until.value)};
    if (!left_.wait_until(lock, limit, [this] { return running_threads_ == 0; })) return false;
  }
  for (auto& thread : threads_) thread.join();
  threads_.clear();
  return true;
}

void ComputePool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) break;
    Waiting next = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    next.answer(monotonic_now() > next.deadline
                    ? next.job->failed(next.op, {Code::kDeadline, "no thread was free in time"})
                    : run_job(*next.job, next.op));
    next = {};
    lock.lock();
  }
  --running_threads_;
  left_.notify_all();
}

}  // namespace troupe
