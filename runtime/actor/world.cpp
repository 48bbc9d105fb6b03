#include "runtime/actor/world.hpp"

#include <algorithm>
#include <exception>
#include <limits>

namespace troupe {

namespace {
constexpr Duration kLeast = nanoseconds(1);
/// Of an entry, from its beginning: its watchers.
constexpr std::size_t kWatchersFetched = 192;
constexpr std::size_t kPayloadFetched = 256;  ///< of a message, from its beginning
}  // namespace

World::World(WorldOptions options)
    : options_(std::move(options)),
      queue_(options_.explore_ties ? mix64(options_.seed, 0x7e) | 1 : 0),
      trace_(options_.seed) {}

World::~World() = default;

World::Entry* World::entry(const ActorRef& ref) {
  Entry* found = entries_.find(ref.local);
  return found == nullptr || found->ref.life != ref.life ? nullptr : found;
}

Actor* World::find(const ActorRef& ref) {
  Entry* found = entry(ref);
  return found == nullptr ? nullptr : found->actor.get();
}

void World::create(const ActorRef& ref, const ActorRef& parent, const ActorType& type,
                   std::shared_ptr<void> args) {
  TROUPE_ASSERT(entries_.find(ref.local) == nullptr, "an actor with this id is still alive");
  Entry& created = entries_[ref.local];
  created.ref = ref;
  created.parent = parent;
  const bool inside = type.make_at != nullptr && type.size <= kActorInside;
  Actor* const made =
      inside ? type.make_at(created.place, args.get()) : type.make(args.get()).release();
  created.actor = {made, detail::EndActor{inside}};
  created.rng = Rng(mix64(mix64(options_.seed, ref.local), ref.life));
  if (parent) {
    if (Entry* owner = entry(parent)) owner->child_list().add(ref);
  } else {
    roots_.push_back(ref);
  }
  if (type.fetches) fetching_.insert(ref.local, created.actor.get());
  started(created);
}

void World::post(Time at, const ActorRef& to, Message message) {
  queue_.push(std::max(at, now_ + kLeast),
              Event{Envelope{{}, to, std::move(message)}, EventKind::kMessage, 0, 0});
}

void World::kill(Time at, const ActorRef& ref) {
  post(at, ref, make_message<Kill>());
}

void World::push_message(Time due, const ActorRef& from, const ActorRef& to, Message message) {
  const bool near = due < now_ + options_.latency.remote;
  queue_.push_message(due, near ? EventQueue::Travel::kLocal : EventQueue::Travel::kRemote,
                      Event{Envelope{from, to, std::move(message)}, EventKind::kMessage, 0, 0});
}

Time World::due_from(Entry& sender, NodeId to) {
  const bool local = to == sender.ref.node;
  Time& last = local ? sender.last_local : sender.last_remote;
  const Duration latency = local ? options_.latency.local : options_.latency.remote;
  last = std::max(now_ + std::max(latency, kLeast), last + kLeast);
  return last;
}

bool World::step() {
  return step_until(Time(std::numeric_limits<std::int64_t>::max()));
}

bool World::step_until(Time until) {
  if (queue_.empty()) return false;
  const EventQueue::First first = queue_.first();
  if (first.due > until) return false;
  TROUPE_ASSERT(first.due >= now_, "time never runs backwards");
  now_ = first.due;
  Event event = queue_.take(first);
  look_ahead();
  if (frozen_.empty() || !hold(event)) dispatch(event);
  return true;
}

void World::dispatch(Event& event) {
  ++events_;
  if (event.kind == EventKind::kTimer) {
    event.envelope.message = make_message<TimerFired>(TimerTag{event.timer, event.key});
  }
  Entry* receiver = entries_.find(event.envelope.to.local);
  if (options_.trace_hash) trace(event);
  if (options_.observer) options_.observer(now_, event.envelope);
  if (event.envelope.message.kind() == Kill::info.kind) {
    if (receiver != nullptr) begin_end(*receiver, EndReason::kKilled, "killed by the fault plan");
  } else if (receiver != nullptr && receiver->ref.life == event.envelope.to.life) {
    if (event.kind == EventKind::kTimer) forget_timer(*receiver, event);
    if (event.kind == EventKind::kDone) forget_op(*receiver, event);
    deliver(*receiver, event.envelope);
  } else {
    undeliverable(event);
  }
  if (!ending_.empty()) {
    carry_out_ends();
    receiver = entry(event.envelope.to);
  }
  if (!options_.settled) return;
  const bool there = receiver != nullptr && receiver->ref.life == event.envelope.to.life;
  options_.settled(event.envelope, there ? receiver->actor.get() : nullptr);
}

void World::fetch_ahead(const ActorRef& to, const Message& message) {
  const Actor* const* fetching = fetching_.find(to.local);
  if (fetching == nullptr) return entries_.fetch(to.local);
  (*fetching)->fetch_ahead(message);
}

void World::fetch_timer(const Event& event) {
  const std::uint64_t to = event.envelope.to.local;
  if (fetching_.contains(to)) return;  // it has many requests: it is here
  const Entry* receiver = entries_.find(to);
  if (receiver == nullptr) return;
  if (receiver->timers.size() == 1) queue_.fetch(receiver->timers.begin()->event);
}

void World::look_ahead() {
  queue_.look_ahead([this](const Event& event) { fetch_timer(event); });
  if (queue_.poured().empty()) return;
  // In three rounds: what one reads, the round before has fetched.
  for (const std::uint32_t number : queue_.poured()) {
    fetch_line(&queue_.poured_event(number));
  }
  for (const std::uint32_t number : queue_.poured()) {
    const EventQueue::Kept& soon = queue_.poured_event(number);
    if (soon.message) fetch_lines(&soon.message.payload(), kPayloadFetched);
    entries_.fetch(soon.to.local);
  }
  for (const std::uint32_t number : queue_.poured()) {
    const EventQueue::Kept& soon = queue_.poured_event(number);
    const Actor* const* fetching = fetching_.find(soon.to.local);
    if (fetching != nullptr && soon.message) (*fetching)->fetch_ahead(soon.message);
  }
  queue_.clear_poured();
}

void World::run_until(Time until) {
  while (step_until(until)) {
  }
  now_ = std::max(now_, until);
}

void World::trace(const Event& event) {
  trace_.add(static_cast<std::uint64_t>(now_.value));
  trace_.add(event.envelope.to.local + event.envelope.to.life);
  trace_.add(event.envelope.message.kind());
  trace_.add(event.envelope.message.digest());
}

void World::forget_timer(Entry& receiver, const Event& event) {
  TimerBook::Timer* const at = receiver.timers.find({event.timer, event.key});
  if (at != nullptr) receiver.timers.erase(at);
}

void World::forget_op(Entry& receiver, const Event& event) {
  Op* const op = std::find_if(receiver.ops.begin(), receiver.ops.end(),
                              [&](const Op& one) { return one.id.value == event.key; });
  if (op == receiver.ops.end()) return;
  if (op->launch != 0) launches_.erase(op->launch);
  receiver.ops.erase_unordered(op);
}

void World::undeliverable(const Event& event) {
  const Envelope& lost = event.envelope;
  const std::uint16_t kind = lost.message.kind();
  const bool system = kind < 0x0010 || event.kind != EventKind::kMessage;
  if (!lost.from || system) return;
  const Duration back =
      lost.from.node == lost.to.node ? options_.latency.local : options_.latency.remote;
  push_message(now_ + std::max(back, kLeast), ActorRef{}, lost.from,
               make_message<Undeliverable>(lost.to, kind));
}

void World::execute(Entry& receiver, const Envelope& envelope) {
  Context context{now_,         receiver.ref,        envelope.from,
                  receiver.rng, receiver.next_child, envelope.message};
  try {
    receiver.actor->handle(envelope.message, context, effects_);
    for (const auto& effect : effects_.list()) {
      if (const auto* unwatch = std::get_if<effect::Unwatch>(&effect)) {
        entries_.fetch(unwatch->ref.local, kWatchersFetched);
      }
    }
    for (auto& effect : effects_.list()) {
      // By far the most frequent one needs no table.
      if (auto* send = std::get_if<effect::Send>(&effect)) {
        apply(receiver, *send);
      } else {
        apply(receiver, effect);
      }
    }
  } catch (const std::exception& failure) {
    begin_end(receiver, EndReason::kCrashed, failure.what());
  } catch (...) {
    begin_end(receiver, EndReason::kCrashed, "it threw something unknown");
  }
  effects_.clear();
}

void World::begin_end(Entry& entry, EndReason reason, std::string detail) {
  if (entry.ending) return;
  entry.ending = true;
  entry.end_reason = reason;
  entry.end_detail = std::make_unique<std::string>(std::move(detail));
  ending_.push_back(entry.ref);
}

void World::carry_out_ends() {
  while (!ending_.empty()) {
    const ActorRef ref = ending_.front();
    ending_.erase(ending_.begin());
    end_tree(ref);
  }
}

void World::end_tree(const ActorRef& ref) {
  Entry* doomed = entry(ref);
  if (doomed == nullptr) return;
  std::vector<ActorRef> children;
  if (doomed->children != nullptr) children = doomed->children->all();
  for (auto child = children.rbegin(); child != children.rend(); ++child) {
    Entry* descendant = entry(*child);
    if (descendant == nullptr) continue;
    if (!descendant->ending) {
      descendant->ending = true;
      descendant->end_reason = EndReason::kParentEnded;
      descendant->end_detail = std::make_unique<std::string>("its parent ended");
    }
    end_tree(*child);
  }
  terminate(*entry(ref));
}

void World::finish_end(ActorRef ref) {
  Entry* found = entries_.find(ref.local);
  TROUPE_ASSERT(found != nullptr && found->ref == ref, "an actor ends once");
  Entry& dead = *found;
  for (const ActorRef& watched : dead.watching) {
    if (const Entry* target = entry(watched)) target->watchers.fetch(ref);
  }
  for (const auto& timer : dead.timers) queue_.remove_timer(timer.event);
  for (const auto& op : dead.ops) {
    if (op.scheduled) queue_.remove(op.event);
    if (op.launch == 0) continue;
    // The device keeps the launch's slot and blocks until it ends; nobody waits for the result.
    launches_.erase(op.launch);
    if (!op.scheduled) continue;
    options_.devices[op.device]->cancel(LaunchId(op.launch), now_);
  }
  for (const ActorRef& watched : dead.watching) {
    if (Entry* target = entry(watched)) target->watchers.erase(ref);
  }
  auto tell = [&](const ActorRef& to) {
    Message down = make_message<Down>(ref, dead.end_reason, *dead.end_detail);
    fetch_ahead(to, down);
    push_message(due_from(dead, to.node), ActorRef{}, to, std::move(down));
  };
  Entry* parent = entry(dead.parent);
  if (parent != nullptr) {
    parent->children->erase(ref);
    if (!parent->ending) tell(dead.parent);
  } else {
    std::erase(roots_, ref);
  }
  dead.watchers.for_each([&](const ActorRef& watcher) {
    Entry* alive = World::entry(watcher);
    if (alive == nullptr) return;
    if (!alive->watches_many) alive->watching.erase(ref);
    if (watcher != dead.parent) tell(watcher);  // a parent is told once
  });
  fetching_.erase(ref.local);
  entries_.erase(ref.local);
}

void World::end_all() {
  while (!roots_.empty()) {
    Entry* root = entry(roots_.back());
    begin_end(*root, EndReason::kStopped, "the world ends");
    carry_out_ends();
  }
}

}  // namespace troupe
