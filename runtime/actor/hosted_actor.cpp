#include "runtime/actor/hosted_actor.hpp"

#include <exception>

#include "runtime/actor/live_node.hpp"

namespace troupe {

HostedActor::HostedActor(Host& self, LiveNode& node, Birth birth)
    : self_(self),
      node_(node),
      birth_(std::move(birth)),
      observed_(birth_.ref, birth_.parent, birth_.type->kind),
      rng_(mix64(mix64(node.seed(), birth_.ref.local), birth_.ref.life)) {
  node_.host_made();
}

HostedActor::~HostedActor() {
  node_.host_gone();
}

bool HostedActor::on_mail(Mail& mail) {
  const std::uint64_t start = Observed::ticks();
  sent_ = 0;
  take_turn(mail);
  if (state_ == State::kEnding) {
    if (!let_go_) let_go();
    if (children_.empty()) finish();
  }
  const char* phase = state_ == State::kRunning ? actor_->phase() : "ending";
  observed_.handled(start, Observed::ticks(), sent_, phase);
  return state_ != State::kEnded;
}

void HostedActor::take_turn(Mail& mail) {
  if (state_ != State::kEnding && end_ordered_.load(std::memory_order_acquire)) take_order();
  if (state_ == State::kUnborn) be_born();
  if (state_ == State::kRunning) {
    hear(mail);
  } else {
    hear_while_ending(mail);
  }
}

void HostedActor::be_born() {
  try {
    actor_ = birth_.type->make(birth_.args.get());
    birth_.args.reset();
    observed_.is_about(actor_->subject());
    state_ = State::kRunning;
  } catch (const std::exception& failure) {
    return begin_end(EndReason::kCrashed, failure.what());
  }
  static const Message started = make_message<Started>();
  run(started, birth_.parent);
}

void HostedActor::take_order() {
  std::unique_lock lock(mutex_);
  const EndReason reason = ordered_reason_;
  std::string detail = ordered_detail_;
  lock.unlock();
  begin_end(reason, std::move(detail));
}

void HostedActor::hear(Mail& mail) {
  const Envelope& envelope = mail.envelope;
  switch (mail.kind) {
    case MailKind::kWake:
      return;
    case MailKind::kMessage:
      if (envelope.message.kind() == Kill::info.kind) {
        return begin_end(EndReason::kKilled, "killed by a message");
      }
      if (const Down* down = envelope.message.as<Down>()) watching_.erase(down->ref);
      return run(envelope.message, envelope.from);
    case MailKind::kTimer:
      if (!take_timer(envelope.message.as<TimerFired>()->tag, mail.key)) return;
      return run(envelope.message, {});
    case MailKind::kDone:
      if (!take_op(OpId(mail.key))) return;
      return run(envelope.message, {});
    case MailKind::kChildEnded:
      children_.erase(envelope.message.as<Down>()->ref.local);
      return run(envelope.message, {});
    case MailKind::kDescribe:
      return (*mail.inquiry)(actor_->describe());
    case MailKind::kWatch: {
      effect::Watch watch{envelope.from};
      return apply(watch);
    }
    case MailKind::kUnwatch: {
      effect::Unwatch unwatch{envelope.from};
      return apply(unwatch);
    }
  }
}

void HostedActor::hear_while_ending(Mail& mail) {
  if (mail.kind == MailKind::kChildEnded) {
    children_.erase(mail.envelope.message.as<Down>()->ref.local);
  } else {
    bounce(ReturnSlip(mail));
  }
}

void HostedActor::bounce(const ReturnSlip& slip) {
  if (slip.kind == MailKind::kMessage) {
    node_.undeliverable(slip.from, slip.to, slip.message_kind);
  } else if (slip.kind == MailKind::kDescribe) {
    (*slip.inquiry)(Error{Code::kNotFound, "it has ended"});
  }
}

void HostedActor::run(const Message& message, const ActorRef& from) {
  // One list a thread: a turn never runs inside of another.
  thread_local Effects effects;
  Context context{node_.now(), birth_.ref, from, rng_, next_child_, message};
  try {
    actor_->handle(message, context, effects);
    for (auto& effect : effects.list()) {
      std::visit([this](auto& one) { apply(one); }, effect);
    }
  } catch (const std::exception& failure) {
    begin_end(EndReason::kCrashed, failure.what());
  } catch (...) {
    begin_end(EndReason::kCrashed, "it threw something unknown");
  }
  effects.clear();
}

void HostedActor::begin_end(EndReason reason, std::string detail) {
  if (state_ == State::kEnding) return;
  state_ = State::kEnding;
  end_reason_ = reason;
  end_detail_ = std::move(detail);
}

void HostedActor::let_go() {
  let_go_ = true;
  for (const auto& [tag, timer] : timers_) node_.timers().cancel(timer.id);
  timers_.clear();
  for (const auto& op : ops_) {
    drop_op(op);
    if (op.launch.value == 0) continue;
    // The device keeps the launch's slot and blocks until it ends; nobody waits for the result.
    node_.launches().orphan(op.launch);
    node_.device(op.device).cancel(op.launch, node_.now());
  }
  ops_.clear();
  for (const auto& [local, child] : children_) {
    node_.order_end(child, EndReason::kParentEnded, "its parent ended");
  }
}

void HostedActor::finish() {
  state_ = State::kEnded;
  actor_.reset();
  std::unordered_set<ActorRef> watchers;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    watchers.swap(watchers_);
  }
  node_.forget(birth_.ref);
  for (const auto& watched : watching_) node_.unwatch(birth_.ref, watched);
  const Message down = make_message<Down>(birth_.ref, end_reason_, end_detail_);
  if (birth_.parent) node_.tell_parent(birth_.parent, down);
  watchers.erase(birth_.parent);  // a parent is told once
  for (const auto& watcher : watchers) node_.tell_watcher(watcher, birth_.ref, down);
}

void HostedActor::order_end(EndReason reason, std::string detail) {
  {
    std::lock_guard lock(mutex_);
    if (ended_ || end_ordered_.load(std::memory_order_relaxed)) return;
    ordered_reason_ = reason;
    ordered_detail_ = std::move(detail);
    end_ordered_.store(true, std::memory_order_release);
  }
  self_.post(Mail{{}, MailKind::kWake, 0, {}});
}

bool HostedActor::add_watcher(const ActorRef& watcher) {
  std::lock_guard lock(mutex_);
  if (ended_) return false;
  watchers_.insert(watcher);
  return true;
}

void HostedActor::remove_watcher(const ActorRef& watcher) {
  std::lock_guard lock(mutex_);
  watchers_.erase(watcher);
}

}  // namespace troupe
