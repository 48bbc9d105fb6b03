#include "tools/simulate/simulate_command.hpp"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "actors/traffic/report_json.hpp"
#include "tools/cli/cli.hpp"
#include "tools/simulate/pd_recorder.hpp"
#include "tools/simulate/pd_report.hpp"
#include "tools/simulate/perfetto.hpp"
#include "tools/simulate/report_page.hpp"
#include "tools/simulate/simulate_options.hpp"
#include "tools/simulate/sweep_command.hpp"
#include "tools/simulate/verdict.hpp"
#if TROUPE_WITH_CAF
#include "runtime/actor/caf_world.hpp"
#endif

namespace troupe {

namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

Result<MakeWorld> make_driver(const std::string& name) {
#if TROUPE_WITH_CAF
  if (name == "caf") {
    return MakeWorld([](WorldOptions options) -> std::unique_ptr<World> {
      return std::make_unique<CafWorld>(std::move(options));
    });
  }
#endif
  if (name == "heap") return MakeWorld(heap_world);
  return Error{Code::kUnsupported, "this build has no driver " + name};
}

std::string shape_text(const ClusterShape& shape) {
  return format("%u node(s) x %u GPU(s), %u blocks, %u rows, %u tokens a step", shape.nodes,
                shape.ranks, shape.blocks, shape.max_num_seqs, shape.max_num_batched_tokens);
}

void add_shape(ReportLines& lines, const ClusterShape& shape) {
  lines.push_back({"Cluster", "", shape_text(shape)});
  const std::initializer_list<std::pair<const char*, std::uint32_t>> facts = {
      {"nodes", shape.nodes},
      {"gpus_per_node", shape.ranks},
      {"kv_blocks", shape.blocks},
      {"max_num_seqs", shape.max_num_seqs},
      {"max_num_batched_tokens", shape.max_num_batched_tokens}};
  for (const auto& [key, value] : facts) {
    lines.push_back({"", key, std::uint64_t{value}});
  }
}

void add_notes(ReportLines& lines, const SimulatedCluster& cluster) {
  const Histogram* queue = cluster.notes().observed("vllm:request_queue_time_seconds");
  if (queue != nullptr) {
    lines.push_back({"Queue time mean (ms)", "queue_time_mean_ms", queue->mean() * 1e3});
    lines.push_back({"Queue time P99 (ms)", "queue_time_p99_ms", queue->percentile(99) * 1e3});
  }
  const double preemptions = cluster.notes().counted("vllm:num_preemptions_total");
  lines.push_back({"Preemptions", "preemptions", static_cast<std::uint64_t>(preemptions)});
  lines.push_back({"Killed actors", "killed_actors", cluster.faults().kills()});
  lines.push_back({"Dropped messages", "dropped_messages", cluster.faults().messages_dropped});
}

void add_costs(ReportLines& lines, const SimulatedCluster& cluster,
               const SimulateSettings& settings) {
  lines.push_back({"Cost source", "cost_source", settings.cost_source});
  lines.push_back({"Cost", "costs", cluster.cost().describe()});
  const std::string beyond = cluster.cost().extrapolation();
  if (!beyond.empty()) lines.push_back({"EXTRAPOLATION", "extrapolation", beyond});
  if (!settings.memory_warning.empty()) {
    lines.push_back({"MEMORY", "memory_warning", settings.memory_warning});
  }
  const LatencyModel links;  // the cluster's: it sets none of its own
  const double local = static_cast<double>(links.local.value) / 1000,
               remote = static_cast<double>(links.remote.value) / 1000;
  lines.push_back(
      {"Links", "",
       format("%.0f us within a node, %.0f us between nodes (placeholders)", local, remote)});
  lines.push_back({"", "link_within_node_us", local});
  lines.push_back({"", "link_between_nodes_us", remote});
}

/// How the run went as a run: what any simulation says.
void add_run(ReportLines& lines, const World& world, double span, const std::string& driver,
             double wall) {
  lines.push_back({"Virtual duration (s)", "virtual_duration_s", span, 3});
  lines.push_back({"Wall time (s)", "wall_time_s", wall, 3});
  lines.push_back({"Speed-up", "speed_up", span / wall, 1});
  lines.push_back({"Events", "events", world.events()});
  lines.push_back(
      {"Events per second", "events_per_s", static_cast<double>(world.events()) / wall, 0});
  lines.push_back({"Driver", "driver", driver});
  lines.push_back({"Trace hash", "trace_hash", format("%016" PRIx64, world.trace_hash())});
}

ReportLines simulation_lines(SimulatedCluster& cluster, const SimulateSettings& settings,
                             const std::string& driver, double wall) {
  const double span = cluster.traffic().report().duration().seconds();
  ReportLines lines;
  lines.push_back({"Seed", "seed", settings.scenario.seed});
  add_shape(lines, settings.scenario.cluster);
  add_run(lines, cluster.world(), span, driver, wall);
  add_notes(lines, cluster);
  add_costs(lines, cluster, settings);
  return lines;
}

void print_report(const TrafficReport& report, const ReportLines& lines,
                  const SimulateOptions& options) {
  const std::string text = options.json                 ? report_json(report, lines) + "\n"
                           : options.format == "aiperf" ? aiperf_table(report, lines)
                                                        : vllm_block(report, lines);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

int verdict(const Status& status, std::vector<std::string> broken, std::uint64_t seed,
            const SimulateOptions& options) {
  if (!status.ok()) broken.insert(broken.begin(), status.error().message);
  if (broken.empty()) return cli::kOk;
  std::fprintf(stderr, "troupe: the run broke %zu rule(s); seed %" PRIu64 ":\n", broken.size(),
               seed);
  for (const auto& line : broken) std::fprintf(stderr, "troupe:   %s\n", line.c_str());
  std::fprintf(stderr, "troupe: replay: %s\n", options.replay(seed).c_str());
  return cli::kFailure;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Of the trace: a file of some 100 MB, which the viewer still opens.
constexpr std::size_t kTracedMost = 100'000;

RequestTimelines::Limits recorded(const SimulateOptions& options) {
  RequestTimelines::Limits limits;
  if (!options.perfetto.empty()) limits.first_most = kTracedMost;
  return limits;
}

Status write_files(PdCluster& cluster, const PdRecorder& recorder, const ReportLines& lines,
                   const SimulateOptions& options) {
  if (!options.perfetto.empty()) {
    const std::string trace = perfetto_trace(recorder.timelines().first(), recorder.series());
    TROUPE_TRY(write_report_file(options.perfetto, trace));
    const std::uint64_t left_out = recorder.timelines().left_out();
    std::fprintf(
        stderr, "troupe: %s: %zu requests%s\n", options.perfetto.c_str(),
        recorder.timelines().first().size(),
        left_out == 0 ? "" : format(", %" PRIu64 " later ones left out", left_out).c_str());
  }
  if (options.report.empty()) return ok_status();
  ReportPage page;
  page.title = cluster.plan().name.empty() ? shape_text(cluster.plan()) : cluster.plan().name;
  page.command = options.replay(cluster.plan().seed);
  page.traffic = &cluster.traffic().report();
  page.series = &recorder.series();
  page.slowest = recorder.timelines().slowest();
  page.facts = lines;
  TROUPE_TRY(write_report_file(options.report, html_of(page)));
  std::fprintf(stderr, "troupe: %s: open it in a browser\n", options.report.c_str());
  return ok_status();
}

/// A cluster with prefill and decode apart.
Result<int> simulate_plan(const ClusterPlan& plan, const TrafficPlan& load,
                          const SimulateOptions& options) {
  PdCluster::Options cluster_options;
  TROUPE_TRY_ASSIGN(cluster_options.make_world, make_driver(options.driver));
  cluster_options.load = load;
  PdRecorder recorder(recorded(options));
  if (!options.report.empty() || !options.perfetto.empty()) recorder.watch(cluster_options);
  TROUPE_TRY_ASSIGN(const auto cluster, PdCluster::make(plan, std::move(cluster_options)));
  const auto begin = std::chrono::steady_clock::now();
  const Status status = cluster->run();
  const double wall = seconds_since(begin);
  const TrafficReport& report = cluster->traffic().report();
  ReportLines lines;
  lines.push_back({"Seed", "seed", plan.seed});
  add_run(lines, cluster->world(), report.duration().seconds(), options.driver, wall);
  for (auto& line : pd_lines(*cluster)) lines.push_back(std::move(line));
  print_report(report, lines, options);
  TROUPE_TRY(write_files(*cluster, recorder, lines, options));
  if (report.total() > 0 && report.count(Outcome::kOk) == 0) {
    std::fprintf(
        stderr, "troupe: no request was answered; most often: %s\n",
        report.errors().empty() ? "left by its client" : report.errors().begin()->first.c_str());
    return cli::kFailure;
  }
  return verdict(status, cluster->broken_rules(), plan.seed, options);
}

Result<int> simulate(const SimulateOptions& options) {
  TROUPE_TRY_ASSIGN(const SimulateSettings settings, options.load());
  if (settings.plan) return simulate_plan(*settings.plan, settings.load, options);
  if (!options.report.empty() || !options.perfetto.empty()) {
    return Error{Code::kInvalid,
                 "--report and --perfetto need the plan of a cluster (--config, for example "
                 "config/sim-128.yaml)"};
  }
  SimulatedCluster::Options cluster_options;
  TROUPE_TRY_ASSIGN(cluster_options.make_world, make_driver(options.driver));
  cluster_options.cost = settings.cost;
  cluster_options.load = settings.load;
  TROUPE_TRY_ASSIGN(auto cluster,
                    SimulatedCluster::make(settings.scenario, std::move(cluster_options)));
  const auto begin = std::chrono::steady_clock::now();
  const Status status = cluster->run();
  const double wall = seconds_since(begin);
  print_report(cluster->traffic().report(),
               simulation_lines(*cluster, settings, options.driver, wall), options);
  return verdict(status, broken_rules(*cluster), settings.scenario.seed, options);
}

}  // namespace

void add_simulate_command(cli::Command& program) {
  cli::Command command =
      program.command("simulate", "Run the whole request path on simulated GPUs");
  const auto options = std::make_shared<SimulateOptions>(command);
  add_sweep_command(command);
  add_compare_command(command);
  command.run([options] {
    const Result<int> result = simulate(*options);
    return result.ok() ? *result : cli::report(result.error());
  });
}

}  // namespace troupe
