// The host of a foreign actor whose function may run on many threads at once.
//
// A mailbox costs a message two hand-overs between threads. Where every answer of a node passes
// (the HTTP server's endpoint) a message is handed over in the sender's own turn instead: this host
// breaks rules 1 and 3 of host.hpp on purpose, for functions that lock what they share themselves.
//
// Invariants
// 1. Messages of one sender stay in order, those of several may overlap.
// 2. Births, orders, watches and questions are one at a time, as with any host, in the thread that
//    brings them.
// 3. Once its end was ordered nothing is handed over any more; a call that runs goes on.
//
// Messages are not counted (Observed): the counters would be one cache line for all threads.
// Threads: any; no lock is held while anybody is called. HostedActor::bounce, too, is called from
// several at once: it touches nothing of the actor. Ownership: counted like every host.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>

#include "runtime/actor/hosted_actor.hpp"

namespace troupe {

class DirectHost final : public Host {
 public:
  using Receive = std::function<void(const Envelope&)>;

  /// `birth` makes the actor that stands for the endpoint in listings; it hears no message.
  static HostPtr make(LiveNode& node, Birth birth, Receive receive);

  HostedActor& actor() override { return actor_; }
  void post(Mail mail) override;
  void retain() noexcept override { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept override;

 private:
  DirectHost(LiveNode& node, Birth birth, Receive receive)
      : actor_(*this, node, std::move(birth)), receive_(std::move(receive)) {}
  ~DirectHost() = default;

  void deliver(const Mail& mail);
  void control(Mail mail);

  HostedActor actor_;
  const Receive receive_;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> ended_{false};
  std::mutex mutex_;  ///< guards what follows
  std::deque<Mail> controls_;
  bool controlling_ = false;
};

}  // namespace troupe
