// An engine of plain threads: the live node without CAF, so that ThreadSanitizer sees all of it.
#include <atomic>
#include <deque>

#include "runtime/actor/hosted_actor.hpp"
#include "tests/runtime/actor/caf/toys.hpp"

namespace troupe::toys {

namespace {

class ThreadHost;

class RunQueue {
 public:
  explicit RunQueue(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~RunQueue() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  void push(HostPtr host) {
    {
      std::lock_guard lock(mutex_);
      runnable_.push_back(std::move(host));
    }
    work_.notify_one();
  }

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<HostPtr> runnable_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

class ThreadHost final : public Host {
 public:
  ThreadHost(RunQueue& queue, LiveNode& node, Birth birth)
      : queue_(queue), actor_(*this, node, std::move(birth)) {}

  HostedActor& actor() override { return actor_; }
  void post(Mail mail) override {
    actor_.observed().arrived();
    std::unique_lock lock(mutex_);
    if (closed_) {
      lock.unlock();
      return actor_.bounce(ReturnSlip(mail));
    }
    mails_.push_back(std::move(mail));
    if (scheduled_) return;
    scheduled_ = true;
    lock.unlock();
    queue_.push(HostPtr(this));
  }
  void retain() noexcept override { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept override {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  void run() {
    for (int turn = 0; turn < 64; ++turn) {
      std::unique_lock lock(mutex_);
      if (mails_.empty()) {
        scheduled_ = false;
        return;
      }
      Mail mail = std::move(mails_.front());
      mails_.pop_front();
      lock.unlock();
      if (!actor_.on_mail(mail)) return close();
    }
    queue_.push(HostPtr(this));
  }

 private:
  void close() {
    std::deque<Mail> late;
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
      late.swap(mails_);
    }
    for (const auto& mail : late) actor_.bounce(ReturnSlip(mail));
  }

  RunQueue& queue_;
  std::atomic<std::uint32_t> count_{0};
  std::mutex mutex_;
  std::deque<Mail> mails_;
  bool scheduled_ = false;
  bool closed_ = false;
  HostedActor actor_;
};

void RunQueue::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stopping_ || !runnable_.empty(); });
    if (stopping_) return;
    HostPtr host = std::move(runnable_.front());
    runnable_.pop_front();
    lock.unlock();
    static_cast<ThreadHost*>(host.operator->())->run();
    host = {};
    lock.lock();
  }
}

class ThreadEngine final : public Engine {
 public:
  explicit ThreadEngine(std::size_t threads) : queue_(threads) {}
  HostPtr start(LiveNode& node, Birth birth) override {
    return HostPtr(new ThreadHost(queue_, node, std::move(birth)));
  }

 private:
  RunQueue queue_;
};

}  // namespace

System::System(SystemOptions options)
    : ActorSystem(options, std::make_unique<ThreadEngine>(options.scheduler_threads)) {}

}  // namespace troupe::toys
