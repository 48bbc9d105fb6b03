// A cluster's making: devices, services, groups, front.
#include "tools/simulate/pd_cluster.hpp"

#include "actors/pd/hit_policy.hpp"
#include "runtime/simulation/group_models.hpp"
#include "tools/simulate/pd_prompts.hpp"
#include "tools/simulate/simulated_recipe.hpp"

namespace troupe {

namespace {

/// From the groups' start to the first request: they have joined by then.
constexpr Duration kJoined = milliseconds(1);

PrefillConstants prefill_constants(const ClusterPlan& plan) {
  PrefillConstants constants;
  const double efficiency = plan.constant("prefill_efficiency");
  constants.a = plan.constant("prefill_a_ms") * 1e-3 / efficiency;
  constants.b = plan.constant("prefill_b_us") * 1e-6 / efficiency;
  constants.g = plan.constant("prefill_g") / efficiency;
  return constants;
}

DecodeConstants decode_constants(const ClusterPlan& plan) {
  DecodeConstants constants;
  constants.t0 = plan.constant("decode_t0_ms") * 1e-3;
  constants.k = plan.constant("decode_k_ms") * 1e-3;
  constants.p1 = plan.constant("decode_p1_us") * 1e-6;
  constants.p2 = plan.constant("decode_p2_us") * 1e-6;
  constants.n1 = plan.constant("decode_knee");
  return constants;
}

}  // namespace

Result<std::unique_ptr<PdCluster>> PdCluster::make(const ClusterPlan& given, Options options) {
  ClusterPlan plan = given;
  TROUPE_TRY_ASSIGN(StepTiming timing,
                    step_timing(plan.timing, HostTime::of_us(plan.host_step_us, plan.host_row_us)));
  if (timing.table != nullptr) TROUPE_TRY(take_table(plan, *timing.table));
  TROUPE_TRY(PdFaults::check(plan));
  TROUPE_TRY_ASSIGN(OpenedLoad load, open_load(options.load, plan.workload, plan.seed));
  if (plan.encoders.machines == 0 && load.plan.image_share > 0) return no_encoders();
  TROUPE_TRY_ASSIGN(const PrefillRule prefill, prefill_rule_from(plan.prefill.policy));
  TROUPE_TRY_ASSIGN(const DecodeRule decode, decode_rule_from(plan.decode.policy));
  TROUPE_TRY_ASSIGN(const DraftRule drafts, draft_rule_from(plan.decode.drafts));
  std::unique_ptr<PdCluster> cluster(new PdCluster(plan, std::move(options), std::move(timing),
                                                   std::move(load.source), std::move(load.plan),
                                                   prefill, decode, drafts));
  return cluster;
}

PdCluster::PdCluster(const ClusterPlan& plan, Options options, StepTiming timing,
                     std::shared_ptr<RequestSource> source, TrafficPlan traffic,
                     PrefillRule prefill, DecodeRule decode, DraftRule drafts)
    : plan_(plan),
      options_(std::move(options)),
      load_(std::move(traffic)),
      source_(std::move(source)),
      timing_(std::move(timing)),
      wiring_(std::make_shared<PdWiring>()),
      faults_(plan),
      rules_(plan, actors_, faults_),
      next_sample_(Time() + options_.sample_every) {
  if (timing_.model != nullptr) {
    cost_ = timing_.model;
  } else {
    cost_ = std::make_shared<CostModel>(prefill_constants(plan), decode_constants(plan));
  }
  make_devices(drafts);
  world_ = options_.make_world(world_options());
  actors_.world = world_.get();
  start_services(prefill, decode);
  start_vision_balancer();
  start_groups(drafts);
  start_encoders();
  FaultParts parts{world_.get(), &actors_, wiring_->fabric, actors_.engines, models_};
  for (const auto* pool : {&actors_.instances, &actors_.encoders}) {
    parts.hosts.insert(parts.hosts.end(), pool->begin(), pool->end());
  }
  parts.before_kill = [this](std::size_t group) { add_use(group, gone_); };
  faults_.attach(std::move(parts));
  start_front();
}

WorldOptions PdCluster::world_options() {
  WorldOptions world;
  world.seed = plan_.seed;
  world.explore_ties = plan_.explore_ties;
  world.trace_hash = options_.trace_hash;
  world.notes = &notes_;
  for (const auto& device : devices_) world.devices.push_back(device.get());
  world.observer = options_.observer;
  world.settled = [this](const Envelope& envelope, Actor* actor) {
    seen_.see(envelope);
    actors_.gateway = seen_.gateway;
    actors_.streams = seen_.streams;
    rules_.after(envelope, actor);
    const bool clients = actor != nullptr && envelope.to.local == actors_.traffic.local;
    if (clients && !at_end_ && core_of<TrafficCore>(*actor).ended()) at_end_ = uses_so_far();
    if (options_.sweep_every_event) rules_.sweep();
  };
  if (faults_.drop_anything()) {
    world.drop = [this](const Envelope& envelope) { return faults_.drops(envelope); };
  }
  return world;
}

PdCluster::~PdCluster() = default;

void PdCluster::begin_group() {
  models_.emplace_back();
  streams_.emplace_back();
}

void PdCluster::add_device(std::unique_ptr<GroupModel> model) {
  models_.back().push_back(model.get());
  DeviceInfo info;
  info.kind = "simulated group";
  info.slot_count = 1;
  info.context_max = plan_.context_max;
  devices_.push_back(std::make_unique<ModelledDevice>(info, std::move(model)));
  streams_.back().push_back(
      {static_cast<std::uint32_t>(devices_.size() - 1), devices_.back()->open_stream().value()});
}

void PdCluster::make_devices(DraftRule drafts) {
  for (std::uint32_t i = 0; i < plan_.prefill.engines; ++i) {
    begin_group();
    add_device(std::make_unique<PrefillGroup>(cost_, plan_.prefill.ranks));
  }
  DecodeGroupOptions options;
  options.seed = plan_.seed;
  options.rule = drafts;
  options.acceptance = draft_options(drafts).acceptance;
  options.draft_chance = plan_.constant("draft_chance");
  options.overhead = plan_.constant("draft_overhead");
  options.extra = plan_.constant("decode_extra_ms") * 1e-3;
  options.efficiency = plan_.constant("decode_efficiency");
  for (std::uint32_t i = 0; i < plan_.decode.instances; ++i) {
    begin_group();
    add_device(std::make_unique<DecodeGroup>(cost_, plan_.decode.ranks, options));
  }
  make_encoders();
}

DraftBudget::Options PdCluster::draft_options(DraftRule rule) const {
  DraftBudget::Options options;
  options.rule = rule;
  options.acceptance.m = plan_.constant("draft_m");
  options.acceptance.c = plan_.constant("draft_c");
  options.acceptance.d = plan_.constant("draft_d");
  const DecodeConstants decode = decode_constants(plan_);
  const double extra = plan_.constant("decode_extra_ms") * 1e-3;
  options.curve = {decode.t0 + extra, decode.k, decode.p1, decode.p2, decode.n1};
  options.context = load_.isl.is_fixed() ? load_.isl.first() : plan_.workload.isl;
  return options;
}

FabricSpeeds PdCluster::speeds() const {
  FabricSpeeds speeds;
  speeds.nic = plan_.constant("nic_gb_s") * 1e9;
  speeds.spine = plan_.constant("spine_gb_s") * 1e9;
  speeds.storage_read = plan_.constant("storage_read_gib_s") * (1ull << 30);
  speeds.storage_write = plan_.constant("storage_write_gib_s") * (1ull << 30);
  speeds.storage_ops = plan_.constant("storage_mops") * 1e6;
  speeds.storage_block = plan_.constant("kv_token_bytes") * kBlockTokens;
  speeds.access = from_seconds(plan_.constant("storage_access_us") * 1e-6);
  speeds.jitter = from_seconds(plan_.constant("storage_jitter_us") * 1e-6);
  return speeds;
}

PrefillCurve PdCluster::prefill_curve() const {
  const PrefillConstants constants = prefill_constants(plan_);
  return {constants.a * 1e9, constants.b * 1e9, constants.g * 1e9};
}

std::uint32_t PdCluster::own_cache_blocks() const {
  return static_cast<std::uint32_t>(plan_.prefix.own_cache_tokens / kBlockTokens);
}

void PdCluster::start_services(PrefillRule prefill, DecodeRule decode) {
  PdWiring& wiring = *wiring_;
  wiring.own_caches = plan_.prefix.own_cache_tokens > 0;
  wiring.kv.token_bytes = static_cast<std::uint64_t>(plan_.constant("kv_token_bytes"));
  FabricCore::Args fabric;
  fabric.speeds = speeds();
  fabric.ports = plan_.ports();
  wiring.fabric = actors_.fabric = world_->spawn_root<FabricCore>(kFront, kFabricRoot, fabric);
  PrefillBalancerCore::Args prefills;
  prefills.rule = prefill;
  prefills.curve = prefill_curve();
  prefills.buckets = BucketOptions::for_engines(plan_.prefill.ranks, plan_.prefill.step_budget);
  prefills.buckets.moves_a_round = plan_.prefill.moves_a_round;
  prefills.waiting_most = plan_.requests_max;
  prefills.push.seed = plan_.seed;
  prefills.push.cache_blocks = own_cache_blocks();
  wiring.prefill_balancer = actors_.prefill_balancer =
      world_->spawn_root<PrefillBalancerCore>(kFront, kPrefillBalancerRoot, prefills);
  DecodeBalancerCore::Args decodes;
  decodes.rule = decode;
  decodes.limits.waiting_most = plan_.requests_max;
  wiring.decode_balancer = actors_.decode_balancer =
      world_->spawn_root<DecodeBalancerCore>(kFront, kDecodeBalancerRoot, decodes);
}

GroupHostCore::Args PdCluster::host_args() const {
  GroupHostCore::Args args;
  args.start_up = from_seconds(plan_.constant("start_up_s"));
  args.start_spread = args.start_up / 4;
  args.up_already = plan_.up_already;
  return args;
}

void PdCluster::start_groups(DraftRule drafts) {
  wiring_->first_port.emplace_back(0);  // the front has no GPUs
  std::uint32_t port = 0;
  GroupHostCore::Args host = host_args();
  for (std::uint32_t i = 0; i < plan_.prefill.engines + plan_.decode.instances; ++i) {
    const NodeId node(i + 1);
    wiring_->first_port.emplace_back(port);
    if (i < plan_.prefill.engines) {
      PrefillEngineCore::Args args;
      args.stream = streams_[i].front();
      args.members = plan_.prefill.ranks;
      args.curve = prefill_curve();
      args.budget = plan_.prefill.step_budget;
      args.limits.tokens = plan_.prefill.chunk_tokens;
      args.fit = plan_.prefill.fit;
      args.cache_blocks = own_cache_blocks();
      args.balancer = wiring_->prefill_balancer;
      args.decode_balancer = wiring_->decode_balancer;
      host.group = args;
      actors_.engines.push_back(world_->spawn_root<GroupHostCore>(node, kGroupRoot, host));
      port += plan_.prefill.ranks;
    } else {
      DecodeInstanceCore::Args args;
      args.stream = streams_[i].front();
      args.members = plan_.decode.ranks;
      args.rows_most = plan_.decode.rows_most;
      const double block = plan_.constant("kv_token_bytes") * kBlockTokens;
      args.blocks = static_cast<std::uint32_t>(plan_.decode.kv_gb * 1e9 / block);
      args.drafts = draft_options(drafts);
      args.balancer = wiring_->decode_balancer;
      host.group = args;
      actors_.instances.push_back(world_->spawn_root<GroupHostCore>(node, kGroupRoot, host));
      port += plan_.decode.ranks;
    }
  }
}

std::shared_ptr<const PromptMaker> PdCluster::prompts() const {
  const PrefixIndex::Options blocks;
  const PdPrompts words = shares_beginnings(load_) ? PdPrompts::with_chains(blocks.chain_tokens)
                                                   : PdPrompts(plan_.prefix.cached_share);
  return std::make_shared<const PdPrompts>(words.with_patches(plan_.encoders.patch));
}

void PdCluster::start_front() {
  TrafficCore::Args clients;
  clients.plan = load_;
  clients.source = source_;
  clients.prompts = prompts();
  clients.start_after = kJoined;
  clients.gaps_are_real = false;
  if (!plan_.up_already) {
    const GroupHostCore::Args host = host_args();
    clients.start_after = host.start_up + host.start_spread + seconds(1);
  }
  actors_.traffic = world_->spawn_root<TrafficCore>(kFront, kTrafficRoot, std::move(clients));
  actors_.node = world_->spawn_root<NodeCore>(
      kFront, NodeCore::kName,
      front_node(actors_.traffic, plan_.requests_max, plan_.request_timeout));
  RouteCore::Args route;
  route.node = actors_.node;
  route.model = SimulatedRecipe::kModel;
  route.context_max = plan_.context_max;
  route.rows_most = plan_.requests_max;
  route.prefixes.shared = !wiring_->own_caches;
  route.prefixes.store_blocks = static_cast<std::uint32_t>(plan_.constant("store_blocks"));
  route.prefixes.store_life = from_seconds(plan_.constant("store_life_s"));
  route.prefixes.window_miss = plan_.constant("window_miss");
  route.prefixes.window_life = from_seconds(plan_.constant("window_life_s"));
  route.wiring = wiring_;
  actors_.route = world_->spawn_root<RouteCore>(kFront, kRouteRoot, std::move(route));
}

}  // namespace troupe
