// A cluster's run: time and faults.
#include "tools/simulate/pd_cluster.hpp"

namespace troupe {

namespace {
/// After the load: writes to storage, and ends of what clients left.
constexpr Duration kRest = seconds(20);
}  // namespace

GroupUse PdCluster::prefill_use() {
  GroupUse use;
  for (const ActorRef& host : actors_.engines) {
    if (const auto* engine = actors_.group<PrefillEngineCore>(host)) use.add(engine->use());
  }
  return use;
}

GroupUse PdCluster::decode_use() {
  GroupUse use;
  for (const ActorRef& host : actors_.instances) {
    if (const auto* instance = actors_.group<DecodeInstanceCore>(host)) use.add(instance->use());
  }
  return use;
}

void PdCluster::run_until(Time until) {
  for (auto fault = faults_.next(); fault && *fault <= until; fault = faults_.next()) {
    world_->run_until(*fault);
    faults_.carry_out();
  }
  world_->run_until(until);
}

Status PdCluster::run() {
  while (!traffic().ended()) {
    if (world_->now() >= Time() + SimulatedCluster::kLongest) {
      return Error{Code::kDeadline, "the load did not end; " + std::to_string(traffic().live()) +
                                        " requests are under way"};
    }
    run_until(world_->now() + options_.sample_every);
    rules_.sweep();
    if (options_.on_sample) options_.on_sample(*this);
  }
  faults_.stop();
  while (faults_.next()) run_until(*faults_.next());
  // Writes behind a slow link take their time.
  const Time latest = world_->now() + kRest * 100;
  do {
    run_until(world_->now() + kRest);
  } while (fabric().links().flows() > 0 && world_->now() < latest);
  rules_.sweep();
  rules_.at_end(crashes_);
  return ok_status();
}

}  // namespace troupe
