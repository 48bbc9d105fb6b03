// One thread that runs one Asio io_context: the place where sockets live. Internal.
//
// Why not one io_context with many threads: a socket that belongs to one thread needs no strand
// and no lock, and callbacks of one session are ordered by construction. More threads = more
// loops, sessions spread over them.
//
// Jobs from other threads go through an inbox: one wake-up for all jobs that gather meanwhile, so
// that a batch of tokens for a thousand sessions costs one eventfd write. After a batch the
// `after_batch` hook runs once (sockets are flushed there). Jobs of one thread run in its order.
//
// Deadlines are checked by a tick of `kTick` while the owner says that it has any: thousands of
// connections with a deadline each cost one timer, at a precision that suits seconds.
//
// Invariants: (1) the inbox holds at most `kInboxBytesMax` of payload; submit() says no beyond
// that; (2) after stop() returned no job and no handler runs any more, and jobs are dropped.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/base/monotonic.hpp"

namespace troupe::http {

class Loop {
 public:
  using Job = std::function<void()>;

  static constexpr std::size_t kInboxBytesMax = 256 * 1024 * 1024;
  static constexpr Duration kTick = milliseconds(25);

  struct Hooks {
    std::function<void()> after_batch;
    std::function<void(Time)> on_tick;
    std::function<bool()> wants_tick;
  };

  Loop();
  ~Loop();  ///< stop()
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void start(Hooks hooks);
  /// Runs `last` on the loop's thread, then ends and joins it. Only the first call does something.
  /// Requires: called from another thread.
  void stop(Job last = {});

  /// From any thread. False if the inbox is full (`bytes` is what the job holds): not taken. A job
  /// of 0 bytes is always taken.
  bool submit(std::size_t bytes, Job job);

  bool is_current_thread() const { return std::this_thread::get_id() == thread_.get_id(); }
  boost::asio::io_context& context() { return context_; }

  /// On the loop's thread: makes the tick run (again) when there are deadlines.
  void ensure_tick();

 private:
  void run_batch();
  void tick();

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;
  bool ticking_ = false;
  Hooks hooks_;
  std::mutex mutex_;
  std::vector<Job> inbox_;
  std::size_t inbox_bytes_ = 0;
  bool stopped_ = false;
  std::vector<Job> batch_;
  std::thread thread_;
};

}  // namespace troupe::http
