#include "tests/simulation/trace_scenario.hpp"

#include <cinttypes>
#include <cstdio>

#include "tools/simulate/verdict.hpp"

namespace troupe {

namespace {

constexpr FaultKind kKills[] = {FaultKind::kKillRank,    FaultKind::kKillRequest,
                                FaultKind::kKillRank,    FaultKind::kKillStreams,
                                FaultKind::kKillRequest, FaultKind::kKillGateway,
                                FaultKind::kKillRank,    FaultKind::kKillRequest};

Fault drop(const char* message, double share) {
  Fault fault;
  fault.kind = FaultKind::kDrop;
  fault.until = seconds(1'000'000);
  fault.share = share;
  fault.message = message;
  return fault;
}

}  // namespace

Scenario trace_scenario(std::uint64_t seed) {
  Scenario scenario;
  scenario.name = "equal hashes";
  scenario.seed = seed;
  scenario.explore_ties = seed % 2 == 1;
  scenario.cluster.nodes = 3;
  scenario.cluster.ranks = 2;
  scenario.cluster.blocks = 24;  // few, so that rows are preempted
  scenario.cluster.async_steps = seed % 3 != 0;
  // The server's deadline ends requests before the clients' patience (2.5 s) in every other seed.
  scenario.cluster.request_timeout = seed % 4 < 2 ? seconds(2) : seconds(4);
  Workload& load = scenario.workload;
  load.request_rate = 200;
  load.num_requests = 1100;
  load.isl = 500;
  load.isl_stddev = 200;
  load.osl = 20;
  load.osl_spread = 15;
  load.cancel_rate = 0.08;
  load.cancel_delay_most = milliseconds(500);
  load.timeout = milliseconds(2500);
  Rng rng(mix64(seed, 0x7ace));
  for (std::size_t i = 0; i < std::size(kKills); ++i) {
    Fault fault;
    fault.kind = kKills[i];
    fault.at = milliseconds(400 + 600 * static_cast<std::int64_t>(i)) +
               Duration(static_cast<std::int64_t>(rng.below(300'000'000)));
    scenario.faults.push_back(fault);
  }
  scenario.faults.push_back(drop("submit_row", 0.02));
  scenario.faults.push_back(drop("token_batch", 0.002));
  scenario.faults.push_back(drop("batch_taken", 0.01));
  return scenario;
}

TraceResult run_trace(std::uint64_t seed, const MakeWorld& make_world) {
  SimulatedCluster::Options options;
  options.make_world = make_world;
  auto cluster = std::move(SimulatedCluster::make(trace_scenario(seed), options)).value();
  const Status status = cluster->run();
  TROUPE_ASSERT(status.ok(), "the scenario's load ends");
  const TrafficReport& report = cluster->traffic().report();
  TraceResult result;
  result.hash = cluster->world().trace_hash();
  result.events = cluster->world().events();
  result.requests = report.total();
  result.ok = report.count(Outcome::kOk);
  result.kills = cluster->faults().kills();
  result.cancels = report.count(Outcome::kCancelled);
  result.timeouts = report.count(Outcome::kTimedOut);
  result.deadlines =
      static_cast<std::uint64_t>(cluster->notes().counted("troupe_requests_deadline_total"));
  result.drops = cluster->faults().messages_dropped;
  result.preemptions =
      static_cast<std::uint64_t>(cluster->notes().counted("vllm:num_preemptions_total"));
  result.broken_rules = broken_rules(*cluster);
  return result;
}

std::string to_string(const TraceResult& result) {
  char text[320];
  std::snprintf(text, sizeof text,
                "hash=%016" PRIx64 " events=%" PRIu64 " requests=%" PRIu64 " ok=%" PRIu64
                " kills=%" PRIu64 " cancels=%" PRIu64 " timeouts=%" PRIu64 " deadlines=%" PRIu64
                " drops=%" PRIu64 " preemptions=%" PRIu64,
                result.hash, result.events, result.requests, result.ok, result.kills,
                result.cancels, result.timeouts, result.deadlines, result.drops,
                result.preemptions);
  return text;
}

}  // namespace troupe
