// What each effect means in virtual time.
#include <algorithm>

#include "runtime/actor/world.hpp"

namespace troupe {

namespace {

constexpr Duration kLeastDelay = nanoseconds(1);
/// Actors that one actor watches, of which the world keeps a list.
constexpr std::size_t kWatchedMost = 64;

Message failed_step(OpId op, Error error) {
  return make_message<Done<StepResult>>(op, true, std::move(error), StepResult{});
}

}  // namespace

void World::apply(Entry& entry, Effect& effect) {
  std::visit([&](auto& one) { apply(entry, one); }, effect);
}

void World::apply(Entry& entry, effect::Send& send) {
  if (!send.to) return;
  const Time due = due_from(entry, send.to.node);
  fetch_ahead(send.to, send.message);
  Event event{Envelope{entry.ref, send.to, std::move(send.message)}, EventKind::kMessage, 0, 0};
  if (send.to.node == entry.ref.node) {
    queue_.push_message(due, EventQueue::Travel::kLocal, std::move(event));
  } else if (!options_.drop || !options_.drop(event.envelope)) {
    queue_.push_message(due, EventQueue::Travel::kRemote, std::move(event));
  }
}

void World::apply(Entry& entry, effect::Timer& timer) {
  effect::CancelTimer previous{timer.tag};
  apply(entry, previous);
  const EventHandle event = queue_.push(
      std::max(timer.at, now_ + kLeastDelay),
      Event{Envelope{{}, entry.ref, {}}, EventKind::kTimer, timer.tag.kind, timer.tag.key});
  entry.timers.add({timer.tag, event});
}

void World::apply(Entry& entry, effect::CancelTimer& cancel) {
  TimerBook::Timer* const at = entry.timers.find(cancel.tag);
  if (at == nullptr) return;
  queue_.remove_timer(at->event);
  entry.timers.erase(at);
}

void World::apply(Entry& entry, effect::LaunchStep& launch) {
  TROUPE_ASSERT(launch.stream.device < options_.devices.size(), "the world has no such device");
  Op op;
  op.id = launch.op;
  op.launch = ++next_launch_;
  op.device = launch.stream.device;
  op.deadline = launch.deadline;
  Launch request;
  request.id = LaunchId(op.launch);
  request.stream = launch.stream.stream;
  request.kind = launch.kind;
  request.slot = launch.slot;
  request.plan = std::move(launch.plan);
  for (const OpId earlier : launch.after) {
    for (const auto& other : entry.ops) {
      if (other.id == earlier && other.launch != 0) request.after.push_back(LaunchId(other.launch));
    }
  }
  launches_.insert(op.launch, LaunchOwner{entry.ref, op.id});
  entry.ops.push_back(op);
  options_.devices[op.device]->launch(std::move(request), now_, *this);
}

void World::complete(LaunchId launch, Time at, Result<StepResult> result) {
  LaunchOwner* owner = launches_.find(launch.value);
  if (owner == nullptr) return;
  Entry* waiting = entry(owner->ref);
  TROUPE_ASSERT(waiting != nullptr, "a dead actor's launches are forgotten");
  const auto op = std::find_if(waiting->ops.begin(), waiting->ops.end(),
                               [&](const Op& one) { return one.launch == launch.value; });
  TROUPE_ASSERT(op != waiting->ops.end(), "an owner knows its launches");
  if (at > op->deadline) {
    schedule_done(*waiting, *op, op->deadline,
                  failed_step(op->id, {Code::kHung, "the device did not answer in time"}));
  } else if (result.ok()) {
    schedule_done(*waiting, *op, at,
                  make_message<Done<StepResult>>(op->id, false, Error{}, std::move(*result)));
  } else {
    schedule_done(*waiting, *op, at, failed_step(op->id, result.error()));
  }
}

void World::schedule_done(Entry& entry, Op& op, Time at, Message done) {
  if (op.scheduled) queue_.remove(op.event);
  op.scheduled = true;
  op.event = queue_.push(
      std::max(at, now_ + kLeastDelay),
      Event{Envelope{{}, entry.ref, std::move(done)}, EventKind::kDone, 0, op.id.value});
}

void World::apply(Entry& entry, effect::Cancel& cancel) {
  const auto op = std::find_if(entry.ops.begin(), entry.ops.end(),
                               [&](const Op& one) { return one.id == cancel.op; });
  if (op == entry.ops.end()) return;
  if (op->launch != 0) {
    options_.devices[op->device]->cancel(LaunchId(op->launch), now_);
  } else {
    schedule_done(entry, *op, now_, op->failure(op->id, {Code::kCancelled, "cancelled"}));
  }
}

void World::apply(Entry& entry, effect::Compute& compute) {
  Op op;
  op.id = compute.op;
  op.failure = compute.job->failure();
  const Time end = now_ + compute.job->modelled_time();
  Message done = end > compute.deadline
                     ? op.failure(op.id, {Code::kDeadline, "the job ran out of time"})
                     : run_job(*compute.job, op.id);
  compute.job.reset();
  schedule_done(entry, op, std::min(end, compute.deadline), std::move(done));
  entry.ops.push_back(op);
}

void World::apply(Entry& entry, effect::Watch& watch) {
  Entry* target = World::entry(watch.ref);
  if (target == nullptr) {
    push_message(due_from(entry, entry.ref.node), ActorRef{}, entry.ref,
                 make_message<Down>(watch.ref, EndReason::kUnknown, "it was not there"));
    return;
  }
  if (!target->watchers.add(entry.ref) || entry.watches_many) return;
  entry.watching.push_back(watch.ref);
  if (entry.watching.size() <= kWatchedMost) return;
  entry.watches_many = true;
  entry.watching.clear();
}

void World::apply(Entry& entry, effect::Unwatch& unwatch) {
  if (!entry.watches_many) entry.watching.erase(unwatch.ref);
  if (Entry* target = World::entry(unwatch.ref)) target->watchers.erase(entry.ref);
}

void World::apply(Entry& entry, effect::Spawn& spawn) {
  create(spawn.ref, entry.ref, *spawn.type, std::move(spawn.args));
  push_message(due_from(entry, spawn.ref.node), entry.ref, spawn.ref, make_message<Started>());
}

void World::apply(Entry& entry, effect::End& end) {
  if (!end.child) return begin_end(entry, end.reason, std::move(end.detail));
  Entry* child = World::entry(end.child);
  if (child == nullptr) return;
  TROUPE_ASSERT(child->parent == entry.ref, "only a parent ends a child");
  begin_end(*child, end.reason, std::move(end.detail));
}

void World::apply(Entry& entry, effect::Note& note) {
  if (options_.notes != nullptr) options_.notes->note(now_, entry.ref, note);
}

}  // namespace troupe
