// sim.heap_vs_bare, sim.heap_vs_inline, sim.caf_vs_heap: what the simulation costs.
//
// 512 ranks of 16 slots, 8,192 requests in flight.
//   bare    a std::priority_queue of 32-byte events; the same cores, found by index and called
//           directly; their effects go straight back into the queue. No envelope, no trace hash.
//   inline  the fastest that one would write by hand: events that hold their payload, the decisions
//           inlined into the loop; no message, no effects at all.
// Events a second are compared run by run.
#include <queue>

#include "runtime/actor/caf_world.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/sim/toy_cluster.hpp"

namespace troupe::bench {
namespace {

constexpr std::uint32_t kRanks = 512;
constexpr std::uint64_t kInFlight = 8192;

struct Run {
  double events_a_second = 0;
  std::uint64_t events = 0;
  std::uint64_t done = 0;
};

struct BareEvent {
  std::int64_t due;
  std::uint64_t seq;
  Message message;   ///< nothing: the rank's step has ended
  std::uint64_t to;  ///< kRanks: the balancer
  friend bool operator<(const BareEvent& a, const BareEvent& b) {
    return a.due != b.due ? a.due > b.due : a.seq > b.seq;
  }
};
static_assert(sizeof(BareEvent) == 32);

/// References are indices + 1.
ActorRef bare_ref(std::uint64_t index) {
  return {NodeId(0), 1, index + 1, 1};
}

struct BareLoop {
  static constexpr std::int64_t kLatency = 1'000;
  std::priority_queue<BareEvent> queue;
  std::uint64_t seq = 0;
  std::int64_t now = 0;
  Rng rng;
  std::uint64_t next_child = 0;
  const Message no_message;
  Effects effects;
  std::vector<RankCore> ranks;
  std::vector<BalancerCore> balancer;

  explicit BareLoop(std::uint64_t goal) {
    BalancerCore::Args args{goal, kInFlight, {}};
    for (std::uint32_t i = 0; i < kRanks; ++i) {
      ranks.emplace_back(RankCore::Args{i, bare_ref(kRanks)});
      args.ranks.push_back(bare_ref(i));
    }
    balancer.emplace_back(args);
  }

  void carry_out(std::uint64_t self) {
    for (auto& effect : effects.list()) {
      if (auto* send = std::get_if<effect::Send>(&effect)) {
        queue.push({now + kLatency, seq++, std::move(send->message), send->to.local - 1});
      } else if (const auto* timer = std::get_if<effect::Timer>(&effect)) {
        queue.push({timer->at.value, seq++, {}, self});
      }
    }
    effects.clear();
  }

  void handle(const BareEvent& event) {
    Context context{Time(now), bare_ref(event.to), {}, rng, next_child, no_message};
    if (event.to == kRanks) {
      balancer[0].on(*event.message.as<Finished>(), context, effects);
    } else if (event.message) {
      ranks[event.to].on(*event.message.as<Submit>(), context, effects);
    } else {
      ranks[event.to].on(TimerFired{{1, 0}}, context, effects);
    }
    carry_out(event.to);
  }

  std::uint64_t run() {
    Context context{Time(0), bare_ref(kRanks), {}, rng, next_child, no_message};
    balancer[0].on(Started{}, context, effects);
    carry_out(kRanks);
    std::uint64_t events = 0;
    while (!queue.empty()) {
      // The queue gives no way to move out of it; the event is popped next.
      const BareEvent event = std::move(const_cast<BareEvent&>(queue.top()));
      queue.pop();
      now = event.due;
      ++events;
      handle(event);
    }
    return events;
  }
};

Run run_bare(std::uint64_t goal) {
  BareLoop loop(goal);
  const double start = cpu_seconds();
  const std::uint64_t events = loop.run();
  return {static_cast<double>(events) / (cpu_seconds() - start), events,
          loop.balancer[0].logic.done};
}

struct InlineEvent {
  std::int64_t due;
  std::uint64_t seq;
  std::uint64_t request;
  std::uint32_t to : 31;  ///< kRanks: the balancer
  std::uint32_t step : 1;
  std::uint32_t number;  ///< tokens, or the rank that finished
  friend bool operator<(const InlineEvent& a, const InlineEvent& b) {
    return a.due != b.due ? a.due > b.due : a.seq > b.seq;
  }
};
static_assert(sizeof(InlineEvent) == 32);

struct InlineLoop {
  static constexpr std::int64_t kLatency = 1'000;
  std::priority_queue<InlineEvent> queue;
  std::uint64_t seq = 0;
  std::int64_t now = 0;
  std::uint32_t self = 0;
  BalancerLogic balancer;
  std::vector<RankLogic> ranks = std::vector<RankLogic>(kRanks);

  void submit(std::uint32_t rank, Submit submit) {
    queue.push({now + kLatency, seq++, submit.request.value, rank, 0, submit.tokens});
  }
  void finished(Finished finished) {
    queue.push({now + kLatency, seq++, finished.request.value, kRanks, 0, finished.rank});
  }
  void step_in(Duration time) { queue.push({now + time.value, seq++, 0, self, 1, 0}); }

  std::uint64_t run() {
    std::uint64_t events = 0;
    while (!queue.empty()) {
      const InlineEvent event = queue.top();
      queue.pop();
      now = event.due;
      self = event.to;
      ++events;
      if (event.to == kRanks) {
        balancer.finished({RequestId(event.request), event.number}, *this);
      } else if (event.step) {
        ranks[event.to].stepped(*this);
      } else {
        ranks[event.to].submit({RequestId(event.request), event.number}, *this);
      }
    }
    return events;
  }
};

Run run_inline(std::uint64_t goal) {
  InlineLoop loop;
  loop.balancer.goal = goal;
  loop.balancer.load.resize(kRanks);
  for (std::uint32_t i = 0; i < kRanks; ++i) loop.ranks[i].rank = i;
  const double start = cpu_seconds();
  loop.balancer.begin(kInFlight, loop);
  const std::uint64_t events = loop.run();
  return {static_cast<double>(events) / (cpu_seconds() - start), events, loop.balancer.done};
}

template <class Driver>
Run run_world(std::uint64_t goal) {
  Driver world({});
  const NodeId node(0);
  const ActorRef balancer{node, 1, root_id(node, kRanks), 1};
  BalancerCore::Args args{goal, kInFlight, {}};
  for (std::uint32_t i = 0; i < kRanks; ++i) {
    args.ranks.push_back(world.template spawn_root<RankCore>(node, i, {i, balancer}));
  }
  world.template spawn_root<BalancerCore>(node, kRanks, args);
  const double start = cpu_seconds();
  while (world.step()) continue;
  const double seconds = cpu_seconds() - start;
  return {static_cast<double>(world.events()) / seconds, world.events(),
          world.template core<BalancerCore>(balancer).logic.done};
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe;
  using namespace troupe::bench;
  const Arguments arguments = parse(argc, argv);
  const std::uint64_t goal = arguments.quick ? 40'000 : 300'000;
  const int rounds = arguments.quick ? 3 : 9;
  Figure heap{"sim.heap_vs_bare", "ratio", 0.5, false, {}};
  Figure by_hand{"sim.heap_vs_inline", "ratio", 0.3, false, {}};
  Figure caf{"sim.caf_vs_heap", "ratio", 0.08, false, {}};
  Figure speed{"sim.events_a_second", "events/s", 1e6, false, {}};
  for (int i = 0; i < rounds; ++i) {
    const Run bare = run_bare(goal);
    const Run world = run_world<World>(goal);
    const Run inlined = run_inline(goal);
    const Run hosted = run_world<CafWorld>(arguments.quick ? goal : goal / 4);
    TROUPE_ASSERT(bare.done == goal && world.done == goal && inlined.done == goal,
                  "every request ends");
    heap.samples.push_back(world.events_a_second / bare.events_a_second);
    by_hand.samples.push_back(world.events_a_second / inlined.events_a_second);
    caf.samples.push_back(hosted.events_a_second / world.events_a_second);
    speed.samples.push_back(world.events_a_second);
  }
  return report({heap, by_hand, caf, speed}, arguments.json);
}
