// The seam between a live node and whoever runs its actors.
//
// An `Engine` makes a `Host` an actor; a host owns a HostedActor and a mailbox, and runs the one
// with what lies in the other, one mail at a time. Everything that happens to a message is decided
// in HostedActor; an engine has no opinion. The product's engine is CAF (caf_system.cpp); the
// thread-sanitized tests bring one of their own, since CAF's library is not instrumented.
//
// Contract of a host
// 1. Mails of one sender are handed over in the order of posting, never two at a time.
// 2. When HostedActor::on_mail says that it has ended, no mail follows; what still lies in the
//    mailbox, and what is posted later, goes to HostedActor::bounce.
// 3. `post` never runs an actor in the caller's stack.
// Ownership: hosts are counted (HostPtr); the mailbox's runner holds a count while there is mail.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "runtime/actor/effects.hpp"
#include "runtime/actor/mail.hpp"

namespace troupe {

class HostedActor;
class LiveNode;

class Host {
 public:
  virtual HostedActor& actor() = 0;
  virtual void post(Mail mail) = 0;  ///< any thread
  virtual void retain() noexcept = 0;
  virtual void release() noexcept = 0;

 protected:
  ~Host() = default;
};

class HostPtr {
 public:
  HostPtr() = default;
  explicit HostPtr(Host* host) : host_(host) {
    if (host_ != nullptr) host_->retain();
  }
  HostPtr(const HostPtr& other) : HostPtr(other.host_) {}
  HostPtr(HostPtr&& other) noexcept : host_(std::exchange(other.host_, nullptr)) {}
  HostPtr& operator=(HostPtr other) noexcept {
    std::swap(host_, other.host_);
    return *this;
  }
  ~HostPtr() {
    if (host_ != nullptr) host_->release();
  }

  explicit operator bool() const { return host_ != nullptr; }
  Host* operator->() const { return host_; }

 private:
  Host* host_ = nullptr;
};

/// All that an actor is made of. The core itself is made on the actor's first turn.
struct Birth {
  ActorRef ref;
  ActorRef parent;
  const ActorType* type = nullptr;
  std::shared_ptr<void> args;
};

class Engine {
 public:
  /// Requires: no host is left; joins the engine's threads.
  virtual ~Engine() = default;
  /// Makes a host; it runs when the first mail comes.
  virtual HostPtr start(LiveNode& node, Birth birth) = 0;
};

}  // namespace troupe
