#include "runtime/http/loop.hpp"

#include <boost/asio/post.hpp>
#include <chrono>

#include "runtime/base/assert.hpp"

namespace troupe::http {

Loop::Loop() : work_(boost::asio::make_work_guard(context_)), timer_(context_) {}

Loop::~Loop() {
  stop();
}

void Loop::start(Hooks hooks) {
  hooks_ = std::move(hooks);
  thread_ = std::thread([this] { context_.run(); });
}

void Loop::stop(Job last) {
  if (!thread_.joinable()) return;
  TROUPE_ASSERT(!is_current_thread(), "a loop cannot join itself");
  boost::asio::post(context_, [this, last = std::move(last)] {
    if (last) last();
    context_.stop();
  });
  thread_.join();
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  inbox_.clear();
}

bool Loop::submit(std::size_t bytes, Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return true;
    if (inbox_bytes_ + bytes > kInboxBytesMax) return false;
    inbox_bytes_ += bytes;
    inbox_.push_back(std::move(job));
    if (inbox_.size() > 1) return true;  // somebody woke the loop already
  }
  boost::asio::post(context_, [this] { run_batch(); });
  return true;
}

void Loop::run_batch() {
  {
    const std::lock_guard lock(mutex_);
    std::swap(batch_, inbox_);
    inbox_bytes_ = 0;
  }
  for (auto& job : batch_) job();
  batch_.clear();
  if (hooks_.after_batch) hooks_.after_batch();
}

void Loop::ensure_tick() {
  if (ticking_) return;
  ticking_ = true;
  timer_.expires_after(std::chrono::nanoseconds(kTick.value));
  timer_.async_wait([this](const boost::system::error_code&) { tick(); });
}

void Loop::tick() {
  ticking_ = false;
  hooks_.on_tick(monotonic_now());
  if (hooks_.wants_tick()) ensure_tick();
}

}  // namespace troupe::http
