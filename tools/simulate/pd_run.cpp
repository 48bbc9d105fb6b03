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

GroupUse PdCluster::prefill_use() {
  GroupUse use;
  for (const GroupUse& one : prefill_uses()) use.add(one);
  return use;
}

GroupUse PdCluster::decode_use() {
  GroupUse use;
  for (const ActorRef& host : actors_.instances) {
    if (const auto* instance = actors_.group<DecodeInstanceCore>(host)) use.add(instance->use());
  }
  return use;
}

void PdCluster::add_under_way(const std::vector<ActorRef>& hosts, std::size_t first,
                              GroupUse& use) {
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const GroupHostCore* host = actors_.find<GroupHostCore>(hosts[i]);
    if (host == nullptr || world_->find(host->group()) == nullptr) continue;
    for (const GroupModel* model : models_[first + i]) {
      const UnderWay step = model->under_way(world_->now());
      if (step.share > 0) use.add_part(*step.result, step.takes.seconds(), step.share);
    }
  }
}

GroupUse PdCluster::prefill_so_far() {
  GroupUse use = prefill_use();
  add_under_way(actors_.engines, 0, use);
  return use;
}

GroupUse PdCluster::decode_so_far() {
  GroupUse use = decode_use();
  add_under_way(actors_.instances, actors_.engines.size(), use);
  return use;
}

GroupUse PdCluster::encoder_so_far() {
  GroupUse use = encoder_use();
  add_under_way(actors_.encoders, actors_.engines.size() + actors_.instances.size(), use);
  return use;
}

void PdCluster::advance(Time until) {
  for (auto fault = faults_.next(); fault && *fault <= until; fault = faults_.next()) {
    world_->run_until(*fault);
    faults_.carry_out();
  }
  world_->run_until(until);
}

void PdCluster::sample() {
  next_sample_ = world_->now() + options_.sample_every;
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
    run_until(world_->now() + options_.sample_every);
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
