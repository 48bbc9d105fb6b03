// What is left at the end of a cluster's run, and what its plan expects of it.
#include "actors/decode_balancer/decode_balancer_core.hpp"
#include "actors/gateway/gateway_core.hpp"
#include "actors/pd/fabric_core.hpp"
#include "actors/pd/route_core.hpp"
#include "actors/prefill_balancer/prefill_balancer_core.hpp"
#include "actors/stream_table/stream_table_core.hpp"
#include "actors/traffic/traffic_core.hpp"
#include "tools/simulate/pd_cluster.hpp"
#include "tools/simulate/pd_invariants.hpp"

namespace troupe {

void PdInvariants::at_end(const std::vector<std::string>& crashes) {
  const auto* traffic = actors_.find<TrafficCore>(actors_.traffic);
  TROUPE_ASSERT(traffic != nullptr, "clients live as long as the run");
  const TrafficReport& report = traffic->report();
  equal("outcomes of requests", report.total(), traffic->started());
  equal("requests under way", traffic->live(), 0);
  for (const std::string& crash : crashes) judge_.say("an actor crashed: " + crash);
  at_most("answers with a gap in their tokens", torn_, report.total() - report.count(Outcome::kOk));
  judge_.little(report.occupancy());
  check_nothing_left();
  check_no_images_left();
  check_groups_are_empty();
}

void PdInvariants::check_nothing_left() {
  if (const auto* route = actors_.find<RouteCore>(actors_.route)) {
    equal("flows left", route->flows(), 0);
    equal("stops that no group confirmed", route->stops(), 0);
  }
  if (const auto* balancer = actors_.find<PrefillBalancerCore>(actors_.prefill_balancer)) {
    equal("prompts at the prefill balancer", balancer->pool().jobs(), 0);
  }
  if (const auto* balancer = actors_.find<DecodeBalancerCore>(actors_.decode_balancer)) {
    equal("tickets at the decode balancer", balancer->placer().tickets(), 0);
  }
  if (const auto* fabric = actors_.find<FabricCore>(actors_.fabric)) {
    equal("transfers under way", fabric->links().flows(), 0);
  }
  if (const auto* gateway = actors_.find<GatewayCore>(actors_.gateway)) {
    equal("requests in the gateway", gateway->live_requests(), 0);
  }
  if (const auto* streams = actors_.find<StreamTableCore>(actors_.streams)) {
    equal("rows in the stream table", streams->rows(), 0);
  }
}

void PdInvariants::check_groups_are_empty() {
  std::size_t groups = 0;
  for (const ActorRef& host : actors_.engines) {
    const auto* engine = actors_.group<PrefillEngineCore>(host);
    if (engine == nullptr) continue;
    ++groups;
    equal("prompts at an engine", engine->jobs(), 0);
  }
  for (const ActorRef& host : actors_.instances) {
    const auto* instance = actors_.group<DecodeInstanceCore>(host);
    if (instance == nullptr) continue;
    ++groups;
    equal("rows at an instance", instance->rows(), 0);
  }
  for (const ActorRef& host : actors_.encoders) {
    if (actors_.group<EncoderMachineCore>(host) != nullptr) ++groups;
  }
  // Roots: node, traffic, route, fabric, two balancers or three; gateway and streams; groups.
  const std::size_t roots = actors_.vision_balancer ? 7 : 6;
  const std::size_t hosts =
      actors_.engines.size() + actors_.instances.size() + actors_.encoders.size();
  equal("actors left", actors_.world->actor_count(), roots + 2 + hosts + groups);
}

std::vector<std::string> unmet_expectations(PdCluster& cluster) {
  const Expectations& expect = cluster.plan().expect;
  const PdFaults::Counts& faults = cluster.faults();
  Judge judge;
  judge.traffic(cluster.traffic().report(), expect);
  const auto number = [](std::uint64_t one) { return static_cast<double>(one); };
  judge.at_least("messages dropped", number(faults.messages_dropped), expect.dropped_min);
  judge.at_least("groups killed", number(faults.groups_killed), expect.killed_min);
  judge.at_least("nodes given up", number(faults.nodes_lost), expect.nodes_lost_min);
  judge.at_least("requests routed anew", cluster.notes().counted("troupe_requests_rerouted_total"),
                 expect.rerouted_min);
  judge.at_least("images encoded", number(cluster.images_encoded()), expect.images_min);
  judge.at_least("images given to another encoder",
                 cluster.notes().counted("troupe_images_encoded_again_total"),
                 expect.images_again_min);
  judge.at_least("rows parked", cluster.notes().counted("troupe_rows_parked_total"),
                 expect.parked_min);
  judge.at_least("preemptions", 0, expect.preemptions_min);  // there are none here
  judge.at_least("restarts of groups", cluster.notes().counted("troupe_groups_lost_total"),
                 expect.restarts_min);
  return judge.lines();
}

}  // namespace troupe
