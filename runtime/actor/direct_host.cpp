#include "runtime/actor/direct_host.hpp"

#include <exception>

namespace troupe {

HostPtr DirectHost::make(LiveNode& node, Birth birth, Receive receive) {
  return HostPtr(new DirectHost(node, std::move(birth), std::move(receive)));
}

void DirectHost::release() noexcept {
  if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void DirectHost::post(Mail mail) {
  const bool message = mail.kind == MailKind::kMessage;
  if (!message || mail.envelope.message.kind() == Kill::info.kind) return control(std::move(mail));
  deliver(mail);
}

void DirectHost::deliver(const Mail& mail) {
  // An end that was ordered may still be carried out by another thread.
  if (ended_.load(std::memory_order_acquire) || actor_.end_ordered()) {
    return actor_.bounce(ReturnSlip(mail));
  }
  try {
    receive_(mail.envelope);
  } catch (const std::exception& failure) {
    actor_.order_end(EndReason::kCrashed, failure.what());
  } catch (...) {
    actor_.order_end(EndReason::kCrashed, "it threw something unknown");
  }
}

void DirectHost::control(Mail mail) {
  std::unique_lock lock(mutex_);
  controls_.push_back(std::move(mail));
  if (controlling_) return;  // who handles them takes this one as well
  controlling_ = true;
  while (!controls_.empty()) {
    Mail next = std::move(controls_.front());
    controls_.pop_front();
    lock.unlock();
    if (ended_.load(std::memory_order_relaxed)) {
      actor_.bounce(ReturnSlip(next));
    } else if (!actor_.on_mail(next)) {
      ended_.store(true, std::memory_order_release);
    }
    lock.lock();
  }
  controlling_ = false;
}

}  // namespace troupe
