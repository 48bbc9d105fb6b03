// A cluster's run: time and faults.
#include <algorithm>

#include "tools/simulate/pd_cluster.hpp"

namespace troupe {

namespace {
/// After the load: writes to storage, and ends of what clients left.
constexpr Duration kRest = seconds(20);
}  // namespace

std::vector<GroupUse> PdCluster::prefill_uses() {
  std::vector<GroupUse> uses;
  for (const ActorRef& host : actors_.engines) {
    if (const auto* engine = actors_.group<PrefillEngineCore>(host)) uses.push_back(engine->use());
  }
  return uses;
}

void PdCluster::add_use(std::size_t group, Uses& uses) {
  const std::size_t engines = actors_.engines.size();
  const std::size_t others = engines + actors_.instances.size();
  GroupUse* use = nullptr;
  if (group < engines) {
    const auto* core = actors_.group<PrefillEngineCore>(actors_.engines[group]);
    if (core != nullptr) (use = &uses.prefill)->add(core->use());
  } else if (group < others) {
    const auto* core = actors_.group<DecodeInstanceCore>(actors_.instances[group - engines]);
    if (core != nullptr) (use = &uses.decode)->add(core->use());
  } else {
    const auto* core = actors_.group<EncoderMachineCore>(actors_.encoders[group - others]);
    if (core != nullptr) (use = &uses.encoders)->add(core->use());
  }
  if (use == nullptr) return;  // it starts
  for (const GroupModel* model : models_[group]) {
    const UnderWay step = model->under_way(world_->now());
    if (step.share > 0) use->add_part(*step.result, step.takes.seconds(), step.share);
  }
}

PdCluster::Uses PdCluster::uses_so_far() {
  Uses uses = gone_;
  for (std::size_t group = 0; group < models_.size(); ++group) add_use(group, uses);
  // Those that are down do nothing, but they are there.
  uses.prefill.members = plan_.prefill.engines * plan_.prefill.ranks;
  uses.decode.members = plan_.decode.instances * plan_.decode.ranks;
  uses.encoders.members = plan_.encoders.machines * plan_.encoders.gpus;
  uses.until = world_->now();
  return uses;
}

std::uint64_t PdCluster::tokens_asked() {
  return wiring_->own_caches ? prefill_use().asked : route().prefixes().tokens_asked();
}

std::uint64_t PdCluster::tokens_hit() {
  return wiring_->own_caches ? prefill_use().hit : route().prefixes().tokens_hit();
}

void PdCluster::advance(Time until) {
  for (auto fault = faults_.next(); fault && *fault <= until; fault = faults_.next()) {
    world_->run_until(*fault);
    faults_.carry_out();
  }
  world_->run_until(until);
}

void PdCluster::sample() {
  next_sample_ = next_sample_ + options_.sample_every;
  rules_.sweep();
  answer_rate_.add(world_->now(), traffic().report().count(Outcome::kOk));
  if (options_.on_sample) options_.on_sample(*this);
}

void PdCluster::run_until(Time until) {
  while (next_sample_ <= until) {
    advance(next_sample_);
    sample();
  }
  advance(until);
}

bool PdCluster::step() {
  if (world_->pending() == 0) return false;
  const Time due = world_->next_due();
  const Time fault = faults_.next().value_or(due);
  const Time first = std::min(fault, next_sample_);
  if (first <= due && (faults_.next() || next_sample_ <= due)) {
    run_until(first);
  } else {
    world_->step();
  }
  return true;
}

Status PdCluster::run() {
  while (!traffic().ended()) {
    if (world_->now() >= Time() + SimulatedCluster::kLongest) {
      return Error{Code::kDeadline, "the load did not end; " + std::to_string(traffic().live()) +
                                        " requests are under way"};
    }
    const std::int64_t slice = options_.sample_every.value;
    run_until(Time((world_->now().value / slice + 1) * slice));
  }
  finish();
  return ok_status();
}

void PdCluster::finish() {
  faults_.stop();
  while (faults_.next()) advance(*faults_.next());
  // Writes behind a slow link take their time.
  const Time latest = world_->now() + kRest * 100;
  do {
    advance(world_->now() + kRest);
  } while (fabric().links().flows() > 0 && world_->now() < latest);
  rules_.sweep();
  rules_.at_end(seen_.crashes);
}

std::vector<ActorRef> PdCluster::notable() {
  std::vector<ActorRef> all = {actors_.traffic, actors_.gateway,          actors_.streams,
                               actors_.route,   actors_.prefill_balancer, actors_.decode_balancer,
                               actors_.fabric};
  if (actors_.vision_balancer) all.push_back(actors_.vision_balancer);
  for (const auto& hosts : {actors_.engines, actors_.instances, actors_.encoders}) {
    for (const ActorRef& host : hosts) all.push_back(actors_.find<GroupHostCore>(host)->group());
  }
  return all;
}

}  // namespace troupe
