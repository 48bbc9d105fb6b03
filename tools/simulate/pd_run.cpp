// A cluster's run: time, faults, and the rules that it must keep.
#include <algorithm>

#include "tools/simulate/pd_cluster.hpp"

namespace troupe {

namespace {
/// After the load: writes to storage, and ends of what clients left.
constexpr Duration kRest = seconds(20);
/// Kept of broken rules: the first ones say it all.
constexpr std::size_t kBrokenMost = 20;
}  // namespace

template <class Core>
Core* PdCluster::group(const ActorRef& host) {
  const ActorRef& ref = world_->core<GroupHostCore>(host).group();
  return world_->find(ref) == nullptr ? nullptr : &world_->core<Core>(ref);
}

std::vector<GroupUse> PdCluster::prefill_uses() {
  std::vector<GroupUse> uses;
  for (const ActorRef& host : engines_) {
    if (const auto* engine = group<PrefillEngineCore>(host)) uses.push_back(engine->use());
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
  for (const ActorRef& host : instances_) {
    if (const auto* instance = group<DecodeInstanceCore>(host)) use.add(instance->use());
  }
  return use;
}

void PdCluster::carry_out(const GroupFault& fault) {
  const auto& hosts = fault.kind == GroupKind::kPrefillEngine ? engines_ : instances_;
  const ActorRef ref = world_->core<GroupHostCore>(hosts.at(fault.which)).group();
  // One that is starting has nothing to lose.
  if (world_->find(ref) == nullptr) return;
  ++kills_;
  world_->kill(world_->now(), ref);
}

void PdCluster::run_until(Time until) {
  while (next_fault_ < faults_.size() && Time() + faults_[next_fault_].at <= until) {
    const GroupFault& fault = faults_[next_fault_++];
    world_->run_until(Time() + fault.at);
    carry_out(fault);
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
    check_sums();
    if (options_.on_sample) options_.on_sample(*this);
  }
  // Writes behind a slow link take their time.
  const Time latest = world_->now() + kRest * 100;
  do {
    run_until(world_->now() + kRest);
  } while (fabric().links().flows() > 0 && world_->now() < latest);
  check_sums();
  check_end();
  return ok_status();
}

void PdCluster::expect(const std::string& what, std::uint64_t found, std::uint64_t expected) {
  if (found == expected || broken_.size() >= kBrokenMost) return;
  broken_.push_back(what + " at " + std::to_string(world_->now().seconds()) +
                    " s: " + std::to_string(found) + ", expected " + std::to_string(expected));
}

/// What holds at any time, however much is under way.
void PdCluster::check_sums() {
  const DecodePlacer& placer = decode_balancer().placer();
  std::uint64_t rows = 0;
  for (std::uint32_t i = 0; i < placer.pool().ids(); ++i) {
    rows += placer.pool().at(GpuId(i)).rows;
  }
  expect("rows that the decode balancer counts", rows, placer.tickets() - placer.waiting());
  const PrefillPool& pool = prefill_balancer().pool();
  Duration load;
  for (const EngineId engine : pool.engines()) {
    for (std::uint32_t rank = 0; rank < pool.ranks_of(engine); ++rank) {
      load += pool.rank_load(engine, rank);
    }
  }
  expect("quota of all ranks (ns)", static_cast<std::uint64_t>(load.value),
         static_cast<std::uint64_t>(pool.total_load().value));
  // A flow's end is told to the route: it is there for as long, or as it takes to tell.
  if (prefill_balancer().pool().jobs() > route().flows()) {
    expect("prompts at the prefill balancer", pool.jobs(), route().flows());
  }
}

void PdCluster::check_end() {
  expect("outcomes of requests", traffic().report().total(), traffic().started());
  expect("requests under way", traffic().live(), 0);
  expect("crashes" + (crashes_.empty() ? "" : " (" + crashes_.front() + ")"), crashes_.size(), 0);
  expect("flows left", route().flows(), 0);
  expect("prompts at the prefill balancer", prefill_balancer().pool().jobs(), 0);
  expect("tickets at the decode balancer", decode_balancer().placer().tickets(), 0);
  expect("transfers under way", fabric().links().flows(), 0);
  expect("requests in the gateway", world_->core<GatewayCore>(gateway_).live_requests(), 0);
  expect("rows in the stream table", world_->core<StreamTableCore>(stream_table_).rows(), 0);
  std::size_t groups = 0;
  for (const ActorRef& host : engines_) {
    const auto* engine = group<PrefillEngineCore>(host);
    if (engine == nullptr) continue;
    ++groups;
    expect("prompts at an engine", engine->jobs(), 0);
  }
  for (const ActorRef& host : instances_) {
    const auto* instance = group<DecodeInstanceCore>(host);
    if (instance == nullptr) continue;
    ++groups;
    expect("rows at an instance", instance->rows(), 0);
  }
  // Roots: node, traffic, route, fabric, two balancers; gateway and streams; groups.
  expect("actors left", world_->actor_count(),
         6 + 2 + engines_.size() + instances_.size() + groups);
}

}  // namespace troupe
