// Faults of nodes: frozen ones, and those that their peers give up.
#include <algorithm>

#include "runtime/actor/world.hpp"

namespace troupe {

World::Frozen* World::frozen(NodeId node) {
  const auto at = std::find_if(frozen_.begin(), frozen_.end(),
                               [&](const Frozen& one) { return one.node == node; });
  return at == frozen_.end() ? nullptr : &*at;
}

void World::freeze(NodeId node, Time until) {
  if (Frozen* already = frozen(node)) {
    already->until = std::max(already->until, until);
  } else {
    frozen_.push_back({node, until, {}});
  }
}

bool World::hold(Event& event) {
  Frozen* node = frozen(event.envelope.to.node);
  if (node == nullptr) return false;
  if (event.kind == EventKind::kMessage) {
    if (event.envelope.message.kind() == Kill::info.kind) return false;
    node->held.push_back(std::move(event));
    return true;
  }
  // Timers and results can still be cancelled: they wait in the queue, where their owner's books
  // find them.
  Entry* owner = entry(event.envelope.to);
  if (owner == nullptr) return false;
  const Time due = std::max(now_, node->until) + nanoseconds(1);
  if (event.kind == EventKind::kTimer) {
    TimerBook::Timer* timer = owner->timers.find({event.timer, event.key});
    TROUPE_ASSERT(timer != nullptr, "a pending timer is in its owner's book");
    timer->event = queue_.push(due, std::move(event));
    return true;
  }
  const auto op = std::find_if(owner->ops.begin(), owner->ops.end(),
                               [&](const Op& one) { return one.id.value == event.key; });
  TROUPE_ASSERT(op != owner->ops.end(), "a pending result is of an operation of its owner's");
  op->event = queue_.push(due, std::move(event));
  return true;
}

void World::thaw(NodeId node) {
  Frozen* at = frozen(node);
  TROUPE_ASSERT(at != nullptr && now_ >= at->until, "a node thaws when its freeze is over");
  std::vector<Event> held = std::move(at->held);
  frozen_.erase(frozen_.begin() + (at - frozen_.data()));
  for (Event& event : held) dispatch(event);
}

void World::add_tree(const ActorRef& ref, std::vector<ActorRef>& all) {
  const Entry* one = entry(ref);
  if (one == nullptr) return;
  all.push_back(ref);
  if (one->children == nullptr) return;
  for (const ActorRef& child : one->children->all()) add_tree(child, all);
}

void World::lose_node(NodeId node) {
  std::vector<ActorRef> all;
  for (const ActorRef& root : roots_) add_tree(root, all);
  for (const ActorRef& ref : all) cut_watches(*entry(ref), node);
}

void World::cut_watches(Entry& watched, NodeId lost) {
  for (const ActorRef& watcher : watched.watchers.all()) {
    if ((watcher.node == lost) == (watched.ref.node == lost)) continue;
    watched.watchers.erase(watcher);
    Entry* alive = entry(watcher);
    if (alive == nullptr) continue;
    if (!alive->watches_many) alive->watching.erase(watched.ref);
    push_message(
        due_from(watched, watcher.node), ActorRef{}, watcher,
        make_message<Down>(watched.ref, EndReason::kNodeLost,
                           "node " + std::to_string(lost.value) + " was silent for too long"));
  }
}

}  // namespace troupe
