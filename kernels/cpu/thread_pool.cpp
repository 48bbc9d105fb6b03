#include "kernels/cpu/thread_pool.hpp"

#include "runtime/base/assert.hpp"

namespace troupe::cpu {
namespace {

constexpr std::uint32_t kOpen = 1u << 31;  // bit of inside_
constexpr int kSpins = 500;                // about 20 microseconds of pause instructions

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Waits until `value` is no longer `old`: a short spin, then sleep.
void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(std::size_t threads) {
  TROUPE_ASSERT(threads > 0, "the caller is a thread too");
  for (std::size_t i = 1; i < threads; ++i) {
    workers_.emplace_back([this, i] { work(i); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::run(std::size_t count, const Task& task) {
  if (workers_.empty() || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) task(i, 0);
    return;
  }
  task_ = &task;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  inside_.store(kOpen, std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  take_indices(0);
  inside_.fetch_and(~kOpen, std::memory_order_relaxed);
  while (const std::uint32_t left = inside_.load(std::memory_order_acquire)) {
    wait_while(inside_, left);
  }
}

bool ThreadPool::enter() {
  std::uint32_t inside = inside_.load(std::memory_order_relaxed);
  while ((inside & kOpen) != 0) {
    if (inside_.compare_exchange_weak(inside, inside + 1, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void ThreadPool::leave() {
  if (inside_.fetch_sub(1, std::memory_order_release) == 1) inside_.notify_all();
}

void ThreadPool::take_indices(std::size_t worker) {
  for (;;) {
    const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= count_) return;
    (*task_)(index, worker);
  }
}

void ThreadPool::work(std::size_t worker) {
  std::uint32_t seen = 0;
  for (;;) {
    wait_while(generation_, seen);
    seen = generation_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_relaxed)) return;
    if (!enter()) continue;
    take_indices(worker);
    leave();
  }
}

}  // namespace troupe::cpu
