#include "tools/simulate/verdict.hpp"

#include "tools/simulate/judge.hpp"

namespace troupe {

namespace {

void judge_leftovers(SimulatedCluster& cluster, Judge& judge) {
  World& world = cluster.world();
  judge.equal("actors left", world.actor_count(), cluster.fixed_actors());
  judge.equal("events pending", world.pending(), 0);
  if (world.find(cluster.gateway()) != nullptr) {
    judge.equal("requests in the gateway",
                world.core<GatewayCore>(cluster.gateway()).live_requests(), 0);
  }
  if (world.find(cluster.streams()) != nullptr) {
    judge.equal("rows in the stream table", world.core<StreamTableCore>(cluster.streams()).rows(),
                0);
  }
  for (const ActorRef& ref : cluster.ranks()) {
    if (world.find(ref) == nullptr) continue;
    const RankCore& rank = world.core<RankCore>(ref);
    const std::string name = " of rank " + to_string(ref);
    judge.equal("rows" + name, rank.rows(), 0);
    judge.equal("blocks held" + name, rank.blocks_held(), 0);
    judge.equal("steps in flight" + name, rank.steps_in_flight(), 0);
  }
  judge.equal("blocks orphaned",
              static_cast<std::uint64_t>(cluster.notes().greatest("troupe_kv_blocks_orphaned")), 0);
}

void judge_expectations(SimulatedCluster& cluster, Judge& judge) {
  const Expectations& expect = cluster.scenario().expect;
  const TrafficReport& report = cluster.traffic().report();
  const SimulationNotes& notes = cluster.notes();
  judge.traffic(report, expect);
  judge.at_least("preemptions", notes.counted("vllm:num_preemptions_total"),
                 expect.preemptions_min);
  judge.at_least("rows parked", notes.counted("troupe_rows_parked_total"), expect.parked_min);
  judge.at_least("messages dropped", static_cast<double>(cluster.faults().messages_dropped),
                 expect.dropped_min);
  judge.at_least("killed actors", static_cast<double>(cluster.faults().kills()), expect.killed_min);
  // These can only come of a cluster with prefill and decode apart.
  judge.at_least("nodes given up", 0, expect.nodes_lost_min);
  judge.at_least("requests routed anew", 0, expect.rerouted_min);
  judge.at_least("restarts", notes.counted("troupe_actor_restarts_total"), expect.restarts_min);
}

}  // namespace

std::vector<std::string> broken_rules(SimulatedCluster& cluster) {
  Judge judge;
  const TrafficCore& traffic = cluster.traffic();
  judge.equal("outcomes of requests", traffic.report().total(), traffic.started());
  judge.equal("requests under way", traffic.live(), 0);
  judge.equal("crashes" + (cluster.crashes().empty() ? "" : " (" + cluster.crashes().front() + ")"),
              cluster.crashes().size(), 0);
  judge.little(traffic.report().occupancy());
  judge_leftovers(cluster, judge);
  judge_expectations(cluster, judge);
  return judge.lines();
}

}  // namespace troupe
