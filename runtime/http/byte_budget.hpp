// A bound on the bytes that many holders keep together: the bodies of all open requests.
//
// Why: each body has a limit, but a thousand clients at that limit are 32 GiB. Above the budget new
// bytes are refused (503), and what is there can finish.
//
// A lease grows in steps of `kStep`, so that a small body costs one atomic operation on the shared
// counter and not one a read.
//
// Invariants: (1) used() never exceeds max; (2) a lease returns what it took exactly once: by
// release() or its end. Threads: the budget from any, a lease from one. A budget outlives leases.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace troupe::http {

class ByteBudget {
 public:
  explicit ByteBudget(std::size_t max) : max_(max) {}

  bool take(std::size_t bytes) {
    std::size_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > max_ - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  const std::size_t max_;
  std::atomic<std::size_t> used_{0};
};

class ByteLease {
 public:
  static constexpr std::size_t kStep = 64 * 1024;

  explicit ByteLease(ByteBudget& budget) : budget_(&budget) {}
  ByteLease(ByteLease&& other) noexcept
      : budget_(other.budget_), held_(std::exchange(other.held_, 0)) {}
  ByteLease& operator=(ByteLease&& other) noexcept {
    if (this != &other) {
      release();
      budget_ = other.budget_;
      held_ = std::exchange(other.held_, 0);
    }
    return *this;
  }
  ~ByteLease() { release(); }

  /// Holds at least `bytes`, or returns false and holds what it did before.
  bool grow_to(std::size_t bytes) {
    if (bytes <= held_) return true;
    const std::size_t more = (bytes - held_ + kStep - 1) / kStep * kStep;
    if (!budget_->take(more)) return false;
    held_ += more;
    return true;
  }
  void release() {
    if (held_ > 0) budget_->give_back(std::exchange(held_, 0));
  }
  std::size_t held() const { return held_; }

 private:
  ByteBudget* budget_;
  std::size_t held_ = 0;
};

/// A lease that many may hold, also beyond the end of the server whose budget it is of.
class BodyHold {
 public:
  BodyHold(std::shared_ptr<ByteBudget> budget, ByteLease lease)
      : budget_(std::move(budget)), lease_(std::move(lease)) {}

 private:
  const std::shared_ptr<ByteBudget> budget_;  // goes last
  const ByteLease lease_;
};

}  // namespace troupe::http
