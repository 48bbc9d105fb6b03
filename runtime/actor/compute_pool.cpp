#include "runtime/actor/compute_pool.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>

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
    : queue_max_(queue_max), running_threads_(threads + 1) {
  threads_.reserve(threads + 1);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(lanes_[0]); });
  threads_.emplace_back([this] { run(lanes_[1]); });
}

ComputePool::~ComputePool() {
  while (!stop(monotonic_now() + seconds(3600))) continue;
}

std::uint64_t ComputePool::submit(OpId op, std::shared_ptr<const ComputeJob> job, Time deadline,
                                  Answer answer) {
  {
    std::lock_guard lock(mutex_);
    Lane& lane = lane_of(*job);
    if (!stopping_ && lane.queue.size() < queue_max_) {
      lane.queue.push_back({++next_ticket_, op, std::move(job), deadline, std::move(answer)});
      lane.work.notify_one();
      return next_ticket_;
    }
  }
  answer(job->failed(op, {Code::kUnavailable, "the compute pool is full"}));
  return 0;
}

bool ComputePool::cancel(std::uint64_t ticket) {
  Waiting dropped;  // destroyed outside of the lock
  std::lock_guard lock(mutex_);
  for (Lane& lane : lanes_) {
    const auto place = std::find_if(lane.queue.begin(), lane.queue.end(),
                                    [&](const Waiting& one) { return one.ticket == ticket; });
    if (place == lane.queue.end()) continue;
    dropped = std::move(*place);
    lane.queue.erase(place);
    return true;
  }
  return false;
}

std::size_t ComputePool::queued() const {
  std::lock_guard lock(mutex_);
  return lanes_[0].queue.size() + lanes_[1].queue.size();
}

bool ComputePool::stop(Time until) {
  std::lock_guard one(join_);
  std::deque<Waiting> refused;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    for (Lane& lane : lanes_) {
      std::move(lane.queue.begin(), lane.queue.end(), std::back_inserter(refused));
      lane.queue.clear();
    }
  }
  for (Lane& lane : lanes_) lane.work.notify_all();
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

void ComputePool::run(Lane& lane) {
  std::unique_lock lock(mutex_);
  for (;;) {
    lane.work.wait(lock, [&] { return stopping_ || !lane.queue.empty(); });
    if (stopping_) break;
    Waiting next = std::move(lane.queue.front());
    lane.queue.pop_front();
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
