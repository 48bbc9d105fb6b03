#include "tools/simulate/engine_cluster.hpp"

#include "tools/simulate/pd_prompts.hpp"
#include "tools/simulate/simulated_recipe.hpp"

namespace troupe {

namespace {

constexpr NodeId kClientsNode(0);
constexpr std::uint64_t kClients = 2;  ///< a root of that node; NodeCore::kName is 1
constexpr std::uint64_t kEngine = 1;
/// Until the engines have joined: messages of 50 µs.
constexpr Duration kAllJoined = milliseconds(1);
/// After the load: ends of what clients left.
constexpr Duration kCalm = seconds(20);

}  // namespace

Result<std::unique_ptr<EngineCluster>> EngineCluster::make(const EnginePlan& plan,
                                                           Options options) {
  TROUPE_TRY_ASSIGN(StepTiming timing,
                    step_timing(plan.timing, HostTime::of_us(plan.host_step_us, plan.host_row_us)));
  if (options.cost == nullptr) {
    options.cost = timing.model;
    if (timing.model == nullptr) options.cost = std::make_shared<CostModel>();
  }
  TROUPE_TRY_ASSIGN(OpenedLoad load, open_load(options.load, plan.workload, plan.seed));
  return std::unique_ptr<EngineCluster>(
      new EngineCluster(plan, std::move(options), std::move(timing), std::move(load)));
}

EngineCluster::EngineCluster(const EnginePlan& plan, Options options, StepTiming timing,
                             OpenedLoad load)
    : plan_(plan),
      options_(std::move(options)),
      source_(std::move(load.source)),
      timing_(std::move(timing)),
      next_sample_(Time() + options_.sample_every) {
  DeviceInfo info;
  info.kind = "simulated engine";
  info.slot_count = 1;
  info.context_max = plan.limits.context_most;
  WorldOptions world;
  for (std::uint32_t i = 0; i < plan.engines; ++i) {
    auto model = std::make_unique<EngineModel>(options_.cost);
    models_.push_back(model.get());
    devices_.push_back(std::make_unique<ModelledDevice>(info, std::move(model)));
    streams_.push_back({i, devices_.back()->open_stream().value()});
    world.devices.push_back(devices_.back().get());
  }
  world.seed = plan.seed;
  world.explore_ties = plan.explore_ties;
  world.trace_hash = options_.trace_hash;
  world.notes = &notes_;
  world.settled = [this](const Envelope& envelope, Actor* actor) {
    const bool clients = actor != nullptr && envelope.to.local == traffic_.local;
    if (!clients || at_end_ || !core_of<TrafficCore>(*actor).ended()) return;
    at_end_ = so_far();
    ended_at_ = world_->now();
  };
  world.observer = [this](Time now, const Envelope& envelope) {
    if (options_.observer) options_.observer(now, envelope);
    seen_.see(envelope);
  };
  world_ = options_.make_world(std::move(world));
  start(load.plan);
}

EngineCluster::~EngineCluster() = default;

void EngineCluster::start(const TrafficPlan& traffic) {
  TrafficCore::Args clients;
  clients.plan = traffic;
  clients.source = source_;
  clients.prompts = std::make_shared<const PdPrompts>(
      shares_beginnings(traffic) ? PdPrompts::with_chains(plan_.limits.block_tokens)
                                 : PdPrompts(0));
  clients.start_after = kAllJoined;
  clients.gaps_are_real = false;
  traffic_ = world_->spawn_root<TrafficCore>(kClientsNode, kClients, std::move(clients));
  node_ =
      world_->spawn_root<NodeCore>(kClientsNode, NodeCore::kName,
                                   front_node(traffic_, plan_.requests_max, plan_.request_timeout));
  for (std::uint32_t i = 0; i < plan_.engines; ++i) {
    EngineCore::Args args;
    args.node = node_;
    args.model = SimulatedRecipe::kModel;
    args.stream = streams_[i];
    args.limits = plan_.limits;
    engines_.push_back(world_->spawn_root<EngineCore>(NodeId(i + 1), kEngine, args));
  }
}

Status EngineCluster::run() {
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

void EngineCluster::finish() {
  world_->run_until(world_->now() + kCalm);
}

void EngineCluster::sample() {
  next_sample_ = world_->now() + options_.sample_every;
  answer_rate_.add(world_->now(), traffic().report().count(Outcome::kOk));
  if (options_.on_sample) options_.on_sample(*this);
}

void EngineCluster::run_until(Time until) {
  while (next_sample_ <= until) {
    world_->run_until(next_sample_);
    sample();
  }
  world_->run_until(until);
}

bool EngineCluster::step() {
  if (world_->pending() == 0) return false;
  if (next_sample_ <= world_->next_due()) {
    run_until(next_sample_);
  } else {
    world_->step();
  }
  return true;
}

std::vector<ActorRef> EngineCluster::notable() const {
  std::vector<ActorRef> all = {traffic_, seen_.gateway, seen_.streams};
  all.insert(all.end(), engines_.begin(), engines_.end());
  return all;
}

GroupUse EngineCluster::so_far() {
  GroupUse use;
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    if (world_->find(engines_[i]) == nullptr) continue;
    use.add(world_->core<EngineCore>(engines_[i]).use());
    const UnderWay step = models_[i]->under_way(world_->now());
    if (step.share > 0) use.add_part(*step.result, step.takes.seconds(), step.share);
  }
  use.members = plan_.engines;
  return use;
}

EngineCluster::Held EngineCluster::held() {
  Held sums;
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    if (world_->find(engines_[i]) == nullptr) continue;
    const EngineCore& engine = world_->core<EngineCore>(engines_[i]);
    sums.jobs += engine.jobs();
    sums.rows += models_[i]->rows();
    sums.kv_tokens += static_cast<double>(engine.kv_used());
    sums.tokens_asked += static_cast<double>(engine.tokens_asked());
    sums.tokens_hit += static_cast<double>(engine.tokens_hit());
  }
  return sums;
}

double EngineCluster::mean_decode_rows() {
  const double span = used_seconds() * plan_.engines;
  return span > 0 ? use().row_time / span : 0;
}

ReportLines EngineCluster::lines() {
  const double span = used_seconds() * plan_.engines;
  const GroupUse used = use();
  const Held sums = held();
  ReportLines lines;
  lines.push_back({"Step times", "timing", plan_.timing});
  lines.push_back({"Cluster", "cluster", plan_.shape_text()});
  lines.push_back({"", "engines", std::uint64_t{plan_.engines}});
  lines.push_back({"Prompt tokens hit", "hit_share",
                   sums.tokens_asked > 0 ? sums.tokens_hit / sums.tokens_asked : 0, 4});
  lines.push_back({"Utilisation", "utilisation", span > 0 ? used.busy / span : 0, 3});
  lines.push_back({"Steps", "steps", used.steps});
  lines.push_back({"Decode rows, mean", "decode_rows", mean_decode_rows(), 2});
  lines.push_back({"Decode rows, while it steps", "decode_rows_stepping",
                   used.busy > 0 ? used.row_time / used.busy : 0, 2});
  const double preempted = notes_.counted("vllm:num_preemptions_total");
  lines.push_back({"Preemptions", "preemptions", static_cast<std::uint64_t>(preempted)});
  if (const Histogram* queue = notes_.observed("vllm:request_queue_time_seconds")) {
    lines.push_back({"Queue time mean (ms)", "queue_time_mean_ms", queue->mean() * 1e3});
    lines.push_back({"Queue time P99 (ms)", "queue_time_p99_ms", queue->percentile(99) * 1e3});
  }
  lines.push_back({"Cost", "costs", options_.cost->describe()});
  const std::string beyond = options_.cost->extrapolation();
  if (!beyond.empty()) lines.push_back({"EXTRAPOLATION", "extrapolation", beyond});
  if (timing_.table != nullptr) {
    const auto kv = static_cast<double>(plan_.limits.kv_tokens);
    const std::string memory = memory_warning(*timing_.table, kv);
    if (!memory.empty()) lines.push_back({"MEMORY", "memory_warning", memory});
  }
  return lines;
}

std::vector<std::string> EngineCluster::broken_rules() {
  std::vector<std::string> broken;
  const auto expect = [&](const std::string& what, std::uint64_t found, std::uint64_t expected) {
    if (found == expected) return;
    broken.push_back(what + ": " + std::to_string(found) + ", expected " +
                     std::to_string(expected));
  };
  expect("outcomes of requests", traffic().report().total(), traffic().started());
  expect("requests under way", traffic().live(), 0);
  const auto& crashes = seen_.crashes;
  expect("crashes" + (crashes.empty() ? "" : " (" + crashes.front() + ")"), crashes.size(), 0);
  expect("requests in the gateway", world_->core<GatewayCore>(seen_.gateway).live_requests(), 0);
  expect("rows in the stream table", world_->core<StreamTableCore>(seen_.streams).rows(), 0);
  for (const ActorRef& engine : engines_) {
    if (world_->find(engine) == nullptr) continue;
    expect("requests at an engine", world_->core<EngineCore>(engine).jobs(), 0);
    expect("KV in use at an engine", world_->core<EngineCore>(engine).kv_used(), 0);
  }
  // Roots: node, clients; gateway and streams; engines.
  expect("actors left", world_->actor_count(), 4 + engines_.size());
  return broken;
}

}  // namespace troupe
