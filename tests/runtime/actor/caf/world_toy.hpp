// A toy world with everything in it that may go wrong between two drivers: watches, kills, crashes,
// restarts, timers that are replaced and cancelled, spawn trees, messages to the dead, launches.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "runtime/actor/message_type.hpp"
#include "runtime/actor/supervisor.hpp"
#include "runtime/actor/world.hpp"

namespace troupe::toys {

struct Chatter {
  static constexpr MessageInfo info{0x7301, "chatter"};
  std::uint64_t number = 0;
  std::vector<ActorRef> friends;
  static void fields(auto& self, auto&& visit) {
    visit("number", self.number);
    visit("friends", self.friends);
  }
};

/// Sends, spawns, watches, crashes and stops as its random numbers say.
struct Gossip {
  using Accepts = Protocol<Started, Chatter, Down, Undeliverable, TimerFired, Done<Chatter>>;
  struct Args {
    std::uint32_t depth = 0;
  };
  static constexpr const char* kKind = "gossip";
  explicit Gossip(const Args& args) : depth(args.depth) {}

  void on(const Started&, Context& context, Effects& out) {
    out.timer({1, 0}, context.now + microseconds(100));
    rule.started(context.now);
  }
  void on(const Chatter& chatter, Context& context, Effects& out) {
    for (const auto& one : chatter.friends) know(one);
    know(context.from);
    if (context.rng.chance(0.4)) chat(context, out);
  }
  void on(const Down& down, Context& context, Effects& out) {
    if (std::erase(children, down.ref) == 0) return;  // a friend, or a child heard of twice
    const auto delay = rule.delay_after_crash(context.now);
    if (down.reason == EndReason::kStopped || !delay) return;
    fallen.push_back(down.ref);
    out.timer({2, fallen.size() - 1}, context.now + *delay);
  }
  void on(const Undeliverable& lost, Context&, Effects&) { std::erase(friends, lost.to); }
  void on(const TimerFired& fired, Context& context, Effects& out) {
    if (fired.tag.kind == 2) {
      children.push_back(context.respawn<Gossip>(out, fallen[fired.tag.key], {depth + 1}));
      return;
    }
    chat(context, out);
    const auto pause = static_cast<std::int64_t>(context.rng.below(300));
    out.timer({1, 0}, context.now + microseconds(500));
    out.timer({1, 0}, context.now + microseconds(100 + pause));
    if (context.rng.chance(0.2)) out.timer({3, 0}, context.now + microseconds(150));
    if (context.rng.chance(0.5)) out.cancel_timer({3, 0});
  }
  void on(const Done<Chatter>& done, Context&, Effects&) { computed += done.output.number; }

  void know(const ActorRef& one) {
    if (one && friends.size() < 16) friends.push_back(one);
  }
  void chat(Context& context, Effects& out) {
    if (!friends.empty()) {
      const ActorRef to = friends[context.rng.below(friends.size())];
      out.send(to, make_message<Chatter>(context.rng.next(), friends));
      if (context.rng.chance(0.3)) out.watch(to);
      if (context.rng.chance(0.2)) out.unwatch(to);
    }
    if (depth < 3 && children.size() < 3 && context.rng.chance(0.2)) {
      children.push_back(context.spawn<Gossip>(out, {depth + 1}));
      know(children.back());
    }
    if (!children.empty() && context.rng.chance(0.05)) out.end_child(children.back());
    if (context.rng.chance(0.1)) {
      out.compute(OpId(++op),
                  make_job<Chatter>(
                      []() -> Result<Chatter> {
                        return Chatter{3, {}};
                      },
                      microseconds(50)),
                  context.now + milliseconds(1));
      if (context.rng.chance(0.5)) out.cancel(OpId(op));
    }
    if (depth > 0 && context.rng.chance(0.03)) TROUPE_ASSERT(false, "crash on purpose");
    if (depth > 0 && context.rng.chance(0.03)) out.stop("bored");
  }

  std::uint32_t depth;
  std::vector<ActorRef> friends;
  std::vector<ActorRef> children;
  std::vector<ActorRef> fallen;
  std::uint64_t op = 0;
  std::uint64_t computed = 0;
  Supervisor rule{{microseconds(50), milliseconds(1), milliseconds(20), 0}};
};

/// Fills a world with gossips on two nodes, and plans kills.
inline void fill(World& world, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<ActorRef> all;
  for (std::uint32_t i = 0; i < 12; ++i) {
    all.push_back(world.spawn_root<Gossip>(NodeId(i % 2), i, {0}));
  }
  for (const auto& one : all) {
    world.post(Time(1), one, make_message<Chatter>(rng.next(), all));
  }
  for (int i = 0; i < 6; ++i) {
    const auto at = microseconds(static_cast<std::int64_t>(1000 + rng.below(20'000)));
    world.kill(Time(at.value), all[rng.below(all.size())]);
  }
}

}  // namespace troupe::toys
