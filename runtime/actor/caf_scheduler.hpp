// CAF's scheduler of the live system: its policy "sharing", with two wake-ups less.
//
// Idle workers sleep on a condition variable, so that the first message after a pause waits 10 µs
// and not 4 ms (CAF.md section 8). What differs from caf::policy::work_sharing:
// 1. A worker is woken after the queue's lock was given back: it would wake up only to wait for it.
// 2. The end of an actor does not wake CAF's clock thread to cancel timeouts that a hosted actor
//    never has: its timers are the node's (timer_service.hpp). Other actors keep their timeouts.
//
// Threads and invariants: CAF's. Included by caf_system.cpp only.
#pragma once

#include <caf/actor_clock.hpp>
#include <caf/detail/thread_safe_actor_clock.hpp>
#include <caf/policy/work_sharing.hpp>
#include <caf/scheduler/coordinator.hpp>

namespace troupe {

class SharingPolicy : public caf::policy::work_sharing {
 public:
  template <class Coordinator>
  void enqueue(Coordinator* coordinator, caf::resumable* job) {
    queue_type one;
    one.push_back(job);
    auto& data = d(coordinator);
    {
      const std::lock_guard lock(data.lock);
      data.queue.splice(data.queue.end(), one);
    }
    data.cv.notify_one();
  }
  template <class Coordinator>
  void central_enqueue(Coordinator* coordinator, caf::resumable* job) {
    enqueue(coordinator, job);
  }
  template <class Worker>
  void external_enqueue(Worker* worker, caf::resumable* job) {
    enqueue(worker->parent(), job);
  }
  template <class Worker>
  void internal_enqueue(Worker* worker, caf::resumable* job) {
    enqueue(worker->parent(), job);
  }
  template <class Worker>
  void resume_job_later(Worker* worker, caf::resumable* job) {
    enqueue(worker->parent(), job);
  }
};

/// Passes everything on to CAF's clock but the ends of actors of type `Hosted`.
template <class Hosted>
class SparingClock final : public caf::detail::thread_safe_actor_clock {
 public:
  explicit SparingClock(caf::actor_clock& clock) : clock_(clock) {}

  void set_ordinary_timeout(time_point at, caf::abstract_actor* self, caf::atom_value type,
                            std::uint64_t id) override {
    clock_.set_ordinary_timeout(at, self, type, id);
  }
  void set_multi_timeout(time_point at, caf::abstract_actor* self, caf::atom_value type,
                         std::uint64_t id) override {
    clock_.set_multi_timeout(at, self, type, id);
  }
  void set_request_timeout(time_point at, caf::abstract_actor* self, caf::message_id id) override {
    clock_.set_request_timeout(at, self, id);
  }
  void cancel_ordinary_timeout(caf::abstract_actor* self, caf::atom_value type) override {
    clock_.cancel_ordinary_timeout(self, type);
  }
  void cancel_request_timeout(caf::abstract_actor* self, caf::message_id id) override {
    clock_.cancel_request_timeout(self, id);
  }
  void cancel_timeouts(caf::abstract_actor* self) override {
    if (dynamic_cast<Hosted*>(self) == nullptr) clock_.cancel_timeouts(self);
  }
  void schedule_message(time_point at, caf::strong_actor_ptr receiver,
                        caf::mailbox_element_ptr content) override {
    clock_.schedule_message(at, std::move(receiver), std::move(content));
  }
  void schedule_message(time_point at, caf::group target, caf::strong_actor_ptr sender,
                        caf::message content) override {
    clock_.schedule_message(at, std::move(target), std::move(sender), std::move(content));
  }
  void cancel_all() override { clock_.cancel_all(); }

 private:
  caf::actor_clock& clock_;
};

template <class Hosted>
class SharingScheduler final : public caf::scheduler::coordinator<SharingPolicy> {
 public:
  explicit SharingScheduler(caf::actor_system& system)
      : coordinator(system), clock_(coordinator::clock()) {}

  caf::detail::thread_safe_actor_clock& clock() noexcept override { return clock_; }

 private:
  SparingClock<Hosted> clock_;
};

}  // namespace troupe
