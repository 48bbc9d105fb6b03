// What each effect means in real time (world_effects.cpp says it for virtual time).
#include <algorithm>

#include "runtime/actor/hosted_actor.hpp"
#include "runtime/actor/live_node.hpp"

namespace troupe {

void HostedActor::apply(effect::Send& send) {
  ++sent_;
  node_.send({birth_.ref, send.to, std::move(send.message)});
}

void HostedActor::apply(effect::Timer& timer) {
  effect::CancelTimer previous{timer.tag};
  apply(previous);
  ArmedTimer& armed = timers_[timer.tag];
  armed.arming = ++next_arming_;
  armed.id = node_.timers().schedule(timer.at, [host = HostPtr(&self_), tag = timer.tag,
                                                arming = armed.arming] {
    host->post(Mail{
        {{}, host->actor().ref(), make_message<TimerFired>(tag)}, MailKind::kTimer, arming, {}});
  });
}

void HostedActor::apply(effect::CancelTimer& cancel) {
  const auto place = timers_.find(cancel.tag);
  if (place == timers_.end()) return;
  node_.timers().cancel(place->second.id);
  timers_.erase(place);
}

bool HostedActor::take_timer(const TimerTag& tag, std::uint64_t arming) {
  const auto place = timers_.find(tag);
  if (place == timers_.end() || place->second.arming != arming) return false;
  timers_.erase(place);
  return true;
}

void HostedActor::apply(effect::LaunchStep& launch) {
  Device& device = node_.device(launch.stream.device);
  Op op;
  op.id = launch.op;
  op.device = launch.stream.device;
  op.launch = node_.launches().open(
      launch.deadline, [host = HostPtr(&self_), id = launch.op](Result<StepResult> result) {
        Message done = result.ok()
                           ? make_message<Done<StepResult>>(id, false, Error{}, std::move(*result))
                           : make_message<Done<StepResult>>(id, true, result.error(), StepResult{});
        host->post(Mail{{{}, host->actor().ref(), std::move(done)}, MailKind::kDone, id.value, {}});
      });
  Launch request;
  request.id = op.launch;
  request.stream = launch.stream.stream;
  request.kind = launch.kind;
  request.slot = launch.slot;
  request.plan = std::move(launch.plan);
  for (const OpId earlier : launch.after) {
    for (const auto& other : ops_) {
      if (other.id == earlier && other.launch.value != 0) request.after.push_back(other.launch);
    }
  }
  ops_.push_back(std::move(op));
  device.launch(std::move(request), node_.now(), node_.launches());
}

void HostedActor::apply(effect::Cancel& cancel) {
  const auto op =
      std::find_if(ops_.begin(), ops_.end(), [&](const Op& one) { return one.id == cancel.op; });
  if (op == ops_.end()) return;
  if (op->launch.value != 0) {
    node_.device(op->device).cancel(op->launch, node_.now());
    return;
  }
  node_.pool().cancel(op->ticket);
  self_.post(Mail{{{}, birth_.ref, op->job->failed(op->id, {Code::kCancelled, "cancelled"})},
                  MailKind::kDone,
                  op->id.value,
                  {}});
}

void HostedActor::compute_here(const effect::Compute& compute) {
  Op op;
  op.id = compute.op;
  op.job = compute.job;
  ops_.push_back(std::move(op));
  self_.post(Mail{
      {{}, birth_.ref, run_job(*compute.job, compute.op)}, MailKind::kDone, compute.op.value, {}});
}

void HostedActor::apply(effect::Compute& compute) {
  if (compute.job->length() == JobLength::kBrief) return compute_here(compute);
  auto answer = [host = HostPtr(&self_), id = compute.op](Message done) {
    host->post(Mail{{{}, host->actor().ref(), std::move(done)}, MailKind::kDone, id.value, {}});
  };
  Op op;
  op.id = compute.op;
  op.job = compute.job;
  // A job that runs too long is answered in time as well; its own answer then finds no op.
  op.watchdog =
      node_.timers().schedule(compute.deadline, [answer, id = compute.op, job = compute.job] {
        answer(job->failed(id, {Code::kDeadline, "the job ran out of time"}));
      });
  op.ticket = node_.pool().submit(compute.op, compute.job, compute.deadline, answer);
  ops_.push_back(std::move(op));
}

bool HostedActor::take_op(OpId id) {
  const auto op =
      std::find_if(ops_.begin(), ops_.end(), [&](const Op& one) { return one.id == id; });
  if (op == ops_.end()) return false;
  drop_op(*op);
  ops_.erase(op);
  return true;
}

void HostedActor::drop_op(const Op& op) {
  if (op.launch.value != 0 || op.job->length() == JobLength::kBrief) return;
  node_.timers().cancel(op.watchdog);
  node_.pool().cancel(op.ticket);
}

void HostedActor::apply(effect::Watch& watch) {
  if (node_.watch(birth_.ref, watch.ref)) watching_.insert(watch.ref);
}

void HostedActor::apply(effect::Unwatch& unwatch) {
  if (watching_.erase(unwatch.ref) > 0) node_.unwatch(birth_.ref, unwatch.ref);
}

void HostedActor::apply(effect::Spawn& spawn) {
  node_.spawn({spawn.ref, birth_.ref, spawn.type, std::move(spawn.args)});
  children_.emplace(spawn.ref.local, spawn.ref);
}

void HostedActor::apply(effect::End& end) {
  if (!end.child) return begin_end(end.reason, std::move(end.detail));
  const auto child = children_.find(end.child.local);
  // One that has just ended itself: its Down is on the way. (Another's child was never in here.)
  if (child == children_.end() || child->second != end.child) return;
  node_.order_end(end.child, end.reason, std::move(end.detail));
}

void HostedActor::apply(effect::Note& note) {
  node_.note(birth_.ref, note);
}

}  // namespace troupe
