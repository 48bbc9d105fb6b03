#include "tools/simulate/verdict.hpp"

namespace troupe {

namespace {

class Judge {
 public:
  void equal(const std::string& what, std::uint64_t found, std::uint64_t expected) {
    if (found == expected) return;
    lines_.push_back(what + ": " + std::to_string(found) + ", expected " +
                     std::to_string(expected));
  }
  void at_least(const char* what, double found, const std::optional<std::uint64_t>& least) {
    if (!least || found >= static_cast<double>(*least)) return;
    lines_.push_back(std::string(what) + ": " + std::to_string(found) + ", expected at least " +
                     std::to_string(*least));
  }
  template <class Number>
  void at_most(const char* what, double found, const std::optional<Number>& most) {
    if (!most || found <= static_cast<double>(*most)) return;
    lines_.push_back(std::string(what) + ": " + std::to_string(found) + ", expected at most " +
                     std::to_string(*most));
  }
  std::vector<std::string> lines() && { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

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
  auto count = [&](Outcome outcome) { return static_cast<double>(report.count(outcome)); };
  const double failed = count(Outcome::kFailed) + count(Outcome::kNoToken);
  judge.at_least("ok", count(Outcome::kOk), expect.ok_min);
  judge.at_least("failed", failed, expect.failed_min);
  judge.at_most("failed", failed, expect.failed_max);
  judge.at_least("cancelled", count(Outcome::kCancelled), expect.cancelled_min);
  judge.at_least("timed out", count(Outcome::kTimedOut), expect.timed_out_min);
  judge.at_least("preemptions", notes.counted("vllm:num_preemptions_total"),
                 expect.preemptions_min);
  judge.at_least("rows parked", notes.counted("troupe_rows_parked_total"), expect.parked_min);
  judge.at_least("messages dropped", static_cast<double>(cluster.faults().messages_dropped),
                 expect.dropped_min);
  judge.at_least("restarts", notes.counted("troupe_actor_restarts_total"), expect.restarts_min);
  judge.at_most("TTFT P99 (ms)", report.ttft.percentile(99) * 1e3, expect.ttft_p99_ms_max);
  judge.at_most("virtual duration (s)", report.duration().seconds(), expect.virtual_seconds_max);
}

}  // namespace

std::vector<std::string> broken_rules(SimulatedCluster& cluster) {
  Judge judge;
  const TrafficCore& traffic = cluster.traffic();
  judge.equal("outcomes of requests", traffic.report().total(), traffic.started());
  judge.equal("requests under way", traffic.live(), 0);
  judge.equal("crashes" + (cluster.crashes().empty() ? "" : " (" + cluster.crashes().front() + ")"),
              cluster.crashes().size(), 0);
  judge_leftovers(cluster, judge);
  judge_expectations(cluster, judge);
  return std::move(judge).lines();
}

}  // namespace troupe
