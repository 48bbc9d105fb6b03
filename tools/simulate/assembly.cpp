#include "tools/simulate/assembly.hpp"

#include <algorithm>

#include "actors/node/wire_messages.hpp"
#include "runtime/device/simulated_model.hpp"
#include "tools/simulate/cluster_front.hpp"
#include "tools/simulate/pd_prompts.hpp"
#include "tools/simulate/simulated_recipe.hpp"

namespace troupe {

namespace {

constexpr NodeId kFrontNode(0);
constexpr std::uint64_t kTrafficName = 2;
/// Until ranks of other nodes have joined: some messages of 50 µs each.
constexpr Duration kSettle = milliseconds(1);
/// How often the load's end is looked for.
constexpr Duration kSlice = seconds(1);
/// After the load: the longest back-off of a restart, and the ranks' back-stops behind deadlines.
constexpr Duration kAftermath = seconds(30);
/// Two steps in flight, and two more for what a cancel leaves on the stream.
constexpr std::uint32_t kSlots = 4;

}  // namespace

std::unique_ptr<World> heap_world(WorldOptions options) {
  return std::make_unique<World>(std::move(options));
}

Result<TrafficPlan> traffic_plan(const Workload& load, std::uint64_t seed) {
  TrafficPlan plan;
  plan.concurrency = load.concurrency;
  plan.request_rate = load.request_rate;
  plan.burstiness = load.burstiness;
  plan.num_requests = load.num_requests;
  plan.duration = load.duration;
  plan.warmup = load.warmup;
  plan.isl = Distribution::normal(load.isl, load.isl_stddev);
  plan.osl = load.osl;
  if (load.osl_spread > 0) {
    const double osl = load.osl, spread = load.osl_spread;
    plan.osl = Distribution::uniform(std::max(1.0, osl - spread), osl + spread);
  }
  plan.cancel_rate = load.cancel_rate;
  plan.cancel_delay = load.cancel_delay;
  plan.cancel_delay_most = load.cancel_delay_most;
  plan.timeout = load.timeout;
  plan.slow_readers = load.slow_readers;
  plan.slow_reader_starts = load.slow_reader_starts;
  plan.image_share = load.image_share;
  plan.images = load.images;
  if (!load.image_size.empty()) {
    TROUPE_TRY_ASSIGN(plan.image_sizes, parse_pixel_sizes(load.image_size));
  }
  plan.seed = seed;
  TROUPE_TRY_ASSIGN(plan.slo, parse_slo(load.goodput));
  return plan;
}

MessageNames wire_message_names() {
  MessageNames names;
  const MessageRegistry registry = wire_messages();
  for (const MessageType* type : registry.all()) names.emplace_back(type->info.name);
  return names;
}

Result<std::unique_ptr<SimulatedCluster>> SimulatedCluster::make(const Scenario& scenario,
                                                                 Options options) {
  TROUPE_TRY_ASSIGN(OpenedLoad load, open_load(options.load, scenario.workload, scenario.seed));
  return std::unique_ptr<SimulatedCluster>(
      new SimulatedCluster(scenario, std::move(options), load.plan, std::move(load.source)));
}

SimulatedCluster::SimulatedCluster(const Scenario& scenario, Options options,
                                   const TrafficPlan& plan, std::shared_ptr<RequestSource> source)
    : scenario_(scenario),
      options_(std::move(options)),
      fault_rng_(mix64(scenario.seed, 0xfa)),
      drop_rng_(mix64(scenario.seed, 0xd0)) {
  make_devices();
  WorldOptions world;
  world.seed = scenario.seed;
  world.explore_ties = scenario.explore_ties;
  world.trace_hash = options_.trace_hash;
  world.notes = &notes_;
  for (const auto& device : devices_) world.devices.push_back(device.get());
  for (const Fault& fault : scenario.faults) {
    if (fault.kind != FaultKind::kDrop) kills_.push_back(fault);
  }
  std::stable_sort(kills_.begin(), kills_.end(),
                   [](const Fault& a, const Fault& b) { return a.at < b.at; });
  if (kills_.size() < scenario.faults.size()) {
    world.drop = [this](const Envelope& envelope) { return drops(envelope); };
  }
  world.observer = [this](Time now, const Envelope& envelope) { see(now, envelope); };
  world_ = options_.make_world(std::move(world));
  start(plan, std::move(source));
}

SimulatedCluster::~SimulatedCluster() = default;

void SimulatedCluster::make_devices() {
  const ClusterShape& shape = scenario_.cluster;
  DeviceInfo info;
  info.kind = "simulated";
  info.slot_count = kSlots;
  info.block_count = shape.blocks;
  info.context_max = shape.context_max;
  SimulatedModelOptions model;
  model.seed = scenario_.seed;
  model.step_cost = [this](const StepPlan& plan) { return options_.cost->step(plan); };
  for (std::uint32_t i = 0; i < shape.nodes * shape.ranks; ++i) {
    devices_.push_back(
        std::make_unique<ModelledDevice>(info, std::make_unique<SimulatedModel>(model)));
    streams_of_devices_.push_back({i, devices_.back()->open_stream().value()});
  }
}

NodeCore::Args SimulatedCluster::node_args(std::uint32_t node) const {
  const ClusterShape& shape = scenario_.cluster;
  NodeCore::Args args;
  args.with_gateway = NodeId(node) == kFrontNode;
  args.front = traffic_;
  const std::uint32_t all = shape.nodes * shape.ranks * (shape.max_num_seqs + shape.rank_queue_max);
  args.gateway.requests_max = shape.requests_max > 0 ? shape.requests_max : all;
  args.gateway.request_timeout = shape.request_timeout;
  args.gateway.preparer = std::make_shared<const SimulatedRecipe>(shape.bytes_per_token);
  for (std::uint32_t i = 0; i < shape.ranks; ++i) {
    RankSpec spec;
    spec.models = {SimulatedRecipe::kModel};
    spec.args.stream = streams_of_devices_[node * shape.ranks + i];
    spec.args.device = devices_.front()->info();
    spec.args.limits.max_num_seqs = shape.max_num_seqs;
    spec.args.limits.max_num_batched_tokens = shape.max_num_batched_tokens;
    spec.args.limits.queue_max = shape.rank_queue_max;
    spec.args.limits.async_steps = shape.async_steps;
    args.ranks.push_back(std::move(spec));
  }
  return args;
}

void SimulatedCluster::start(const TrafficPlan& plan, std::shared_ptr<RequestSource> source) {
  TrafficCore::Args traffic;
  traffic.plan = plan;
  traffic.source = std::move(source);
  traffic.prompts = std::make_shared<const PdPrompts>(0);
  traffic.start_after = kSettle;
  traffic_ = world_->spawn_root<TrafficCore>(kFrontNode, kTrafficName, std::move(traffic));
  for (std::uint32_t node = 0; node < scenario_.cluster.nodes; ++node) {
    roots_.push_back(world_->spawn_root<NodeCore>(NodeId(node), NodeCore::kName, node_args(node)));
  }
  for (const ActorRef& here : roots_) {
    for (const ActorRef& there : roots_) {
      const bool with_front = here.node == kFrontNode || there.node == kFrontNode;
      if (here == there || !with_front) continue;
      world_->post(Time() + microseconds(10), here, make_message<PeerJoined>(there));
    }
  }
}

std::size_t SimulatedCluster::fixed_actors() const {
  const ClusterShape& shape = scenario_.cluster;
  return 1 + 2 + shape.nodes * (1 + shape.ranks);  // traffic; gateway, streams; roots and ranks
}

void SimulatedCluster::see(Time now, const Envelope& envelope) {
  if (envelope.message.kind() == Started::info.kind) see_birth(envelope.to);
  if (const auto* down = envelope.message.as<Down>()) {
    if (down->reason == EndReason::kCrashed) crashes_.push_back(down->detail);
  }
  if (options_.observer) options_.observer(now, envelope);
}

void SimulatedCluster::see_birth(const ActorRef& ref) {
  const Actor* actor = world_->find(ref);
  if (actor == nullptr) return;
  const std::string_view kind = actor->kind();
  if (kind == RequestCore::kKind) {
    request_ = ref;
  } else if (kind == GatewayCore::kKind) {
    gateway_ = ref;
  } else if (kind == StreamTableCore::kKind) {
    streams_ = ref;
  } else if (kind == RankCore::kKind) {
    const auto earlier = std::find_if(ranks_.begin(), ranks_.end(), [&](const ActorRef& rank) {
      return rank.node == ref.node && rank.local == ref.local;
    });
    if (earlier == ranks_.end()) {
      ranks_.push_back(ref);
    } else {
      *earlier = ref;
    }
  }
}

bool SimulatedCluster::drops(const Envelope& envelope) {
  const Duration now = world_->now() - Time();
  for (const Fault& fault : scenario_.faults) {
    if (fault.kind != FaultKind::kDrop || now < fault.at || now >= fault.until) continue;
    if (envelope.message.type().info.name != fault.message) continue;
    if (!drop_rng_.chance(fault.share)) continue;
    ++counts_.messages_dropped;
    return true;
  }
  return false;
}

const ActorRef& SimulatedCluster::victim(FaultKind kind, std::uint64_t*& count) {
  switch (kind) {
    case FaultKind::kKillGateway:
      count = &counts_.gateways_killed;
      return gateway_;
    case FaultKind::kKillStreams:
      count = &counts_.streams_killed;
      return streams_;
    case FaultKind::kKillRequest:
      count = &counts_.requests_killed;
      return request_;
    case FaultKind::kKillRank:
    case FaultKind::kDrop:
      break;
  }
  count = &counts_.ranks_killed;
  return ranks_[fault_rng_.below(ranks_.size())];
}

void SimulatedCluster::carry_out(const Fault& fault) {
  std::uint64_t* count = nullptr;
  const ActorRef& doomed = victim(fault.kind, count);
  // A victim that is dead already (it waits for its restart) is not killed twice.
  if (world_->find(doomed) == nullptr) return;
  ++*count;
  world_->kill(world_->now(), doomed);
}

void SimulatedCluster::run_until(Time until) {
  while (next_kill_ < kills_.size() && Time() + kills_[next_kill_].at <= until) {
    const Fault& fault = kills_[next_kill_++];
    world_->run_until(Time() + fault.at);
    carry_out(fault);
  }
  world_->run_until(until);
}

Status SimulatedCluster::run() {
  while (!traffic().ended()) {
    if (world_->now() >= Time() + kLongest) {
      return Error{Code::kDeadline, "the load did not end; " + std::to_string(traffic().live()) +
                                        " requests are under way"};
    }
    run_until(world_->now() + kSlice);
  }
  finish();
  return ok_status();
}

void SimulatedCluster::finish() {
  run_until(world_->now() + kAftermath);
}

bool SimulatedCluster::step() {
  if (world_->pending() == 0) return false;
  const bool kill = next_kill_ < kills_.size();
  if (kill && Time() + kills_[next_kill_].at <= world_->next_due()) {
    run_until(Time() + kills_[next_kill_].at);
  } else {
    world_->step();
  }
  return true;
}

Duration SimulatedCluster::slice() const {
  return kSlice;
}

std::vector<ActorRef> SimulatedCluster::notable() const {
  std::vector<ActorRef> all = {traffic_, gateway_, streams_};
  all.insert(all.end(), ranks_.begin(), ranks_.end());
  return all;
}

}  // namespace troupe
