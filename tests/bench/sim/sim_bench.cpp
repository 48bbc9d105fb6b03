// sim.heap_vs_bare and sim.caf_vs_heap: what the simulation costs over the bare decisions.
//
// 512 ranks of 16 slots, 8,192 requests in flight. The bare loop is the fastest that one would
// write by hand: a std::priority_queue of 32-byte events that hold their payload, actors found by
// index, the same decisions called directly; no envelope, no message, no trace hash. Events a
// second are compared run by run.
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
  std::uint64_t request;
  std::uint32_t to : 31;  ///< kRanks: the balancer
  std::uint32_t step : 1;
  std::uint32_t number;  ///< tokens, or the rank that finished
  friend bool operator<(const BareEvent& a, const BareEvent& b) {
    return a.due != b.due ? a.due > b.due : a.seq > b.seq;
  }
};
static_assert(sizeof(BareEvent) == 32);

struct BareLoop {
  static constexpr std::int64_t kLatency = 1'000;
  std::priority_queue<BareEvent> queue;
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
      const BareEvent event = queue.top();
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

Run run_bare(std::uint64_t goal) {
  BareLoop loop;
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
  Figure caf{"sim.caf_vs_heap", "ratio", 0.08, false, {}};
  Figure speed{"sim.events_a_second", "events/s", 1e6, false, {}};
  for (int i = 0; i < rounds; ++i) {
    const Run bare = run_bare(goal);
    const Run world = run_world<World>(goal);
    const Run hosted = run_world<CafWorld>(arguments.quick ? goal : goal / 4);
    TROUPE_ASSERT(bare.done == goal && world.done == goal, "every request ends");
    heap.samples.push_back(world.events_a_second / bare.events_a_second);
    caf.samples.push_back(hosted.events_a_second / world.events_a_second);
    speed.samples.push_back(world.events_a_second);
  }
  return report({heap, caf, speed}, arguments.json);
}
