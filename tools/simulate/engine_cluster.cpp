#include "tools/simulate/engine_cluster.hpp"

#include "actors/load/trace_source.hpp"
#include "runtime/simulation/engine_model.hpp"
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
constexpr Duration kLook = seconds(1);

}  // namespace

Result<std::unique_ptr<EngineCluster>> EngineCluster::make(const EnginePlan& plan,
                                                           Options options) {
  TrafficPlan traffic;
  if (options.load) {
    traffic = *options.load;
  } else {
    TROUPE_TRY_ASSIGN(traffic, traffic_plan(plan.workload, plan.seed));
  }
  TROUPE_TRY(check_plan(traffic));
  TROUPE_TRY_ASSIGN(std::shared_ptr<RequestSource> source, open_source(traffic));
  return std::unique_ptr<EngineCluster>(
      new EngineCluster(plan, std::move(options), std::move(source), traffic));
}

EngineCluster::EngineCluster(const EnginePlan& plan, Options options,
                             std::shared_ptr<RequestSource> source, const TrafficPlan& traffic)
    : plan_(plan), options_(std::move(options)), source_(std::move(source)) {
  DeviceInfo info;
  info.kind = "simulated engine";
  info.slot_count = 1;
  info.context_max = plan.limits.context_most;
  WorldOptions world;
  for (std::uint32_t i = 0; i < plan.engines; ++i) {
    devices_.push_back(
        std::make_unique<ModelledDevice>(info, std::make_unique<EngineModel>(options_.cost)));
    streams_.push_back({i, devices_.back()->open_stream().value()});
    world.devices.push_back(devices_.back().get());
  }
  world.seed = plan.seed;
  world.explore_ties = plan.explore_ties;
  world.trace_hash = options_.trace_hash;
  world.notes = &notes_;
  world.observer = [this](Time now, const Envelope& envelope) {
    if (options_.observer) options_.observer(now, envelope);
    const auto* down = envelope.message.as<Down>();
    if (down != nullptr && down->reason == EndReason::kCrashed) crashes_.push_back(down->detail);
    if (const auto* told = envelope.message.as<GatewayStarted>()) gateway_ = told->gateway;
    if (const auto* told = envelope.message.as<StreamsStarted>()) stream_table_ = told->streams;
  };
  world_ = options_.make_world(std::move(world));
  start(traffic);
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
  traffic_ = world_->spawn_root<TrafficCore>(kClientsNode, kClients, std::move(clients));
  NodeCore::Args node;
  node.with_gateway = true;
  node.responses.limits.count_max = 0;  // simulated answers have no text
  node.front = traffic_;
  node.gateway.requests_max = plan_.requests_max;
  node.gateway.request_timeout = plan_.request_timeout;
  node.gateway.preparer = std::make_shared<const SimulatedRecipe>(1);
  node_ = world_->spawn_root<NodeCore>(kClientsNode, NodeCore::kName, std::move(node));
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
    run_until(world_->now() + kLook);
  }
  finish();
  return ok_status();
}

void EngineCluster::finish() {
  run_until(world_->now() + kCalm);
}

Duration EngineCluster::slice() const {
  return kLook;
}

std::vector<ActorRef> EngineCluster::notable() const {
  std::vector<ActorRef> all = {traffic_, gateway_, stream_table_};
  all.insert(all.end(), engines_.begin(), engines_.end());
  return all;
}

GroupUse EngineCluster::use() {
  GroupUse use;
  for (const ActorRef& engine : engines_) {
    if (world_->find(engine) != nullptr) use.add(world_->core<EngineCore>(engine).use());
  }
  return use;
}

double EngineCluster::mean_decode_rows() {
  const double span = traffic().report().duration().seconds() * plan_.engines;
  return span > 0 ? use().row_time / span : 0;
}

ReportLines EngineCluster::lines() {
  const double span = traffic().report().duration().seconds() * plan_.engines;
  const GroupUse used = use();
  double asked = 0;
  double hit = 0;
  for (const ActorRef& engine : engines_) {
    if (world_->find(engine) == nullptr) continue;
    asked += static_cast<double>(world_->core<EngineCore>(engine).tokens_asked());
    hit += static_cast<double>(world_->core<EngineCore>(engine).tokens_hit());
  }
  ReportLines lines;
  lines.push_back({"Cluster", "cluster", plan_.shape_text()});
  lines.push_back({"", "engines", std::uint64_t{plan_.engines}});
  lines.push_back({"Prompt tokens hit", "hit_share", asked > 0 ? hit / asked : 0, 4});
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
  expect("crashes" + (crashes_.empty() ? "" : " (" + crashes_.front() + ")"), crashes_.size(), 0);
  expect("requests in the gateway", world_->core<GatewayCore>(gateway_).live_requests(), 0);
  expect("rows in the stream table", world_->core<StreamTableCore>(stream_table_).rows(), 0);
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
