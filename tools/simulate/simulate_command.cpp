#include "tools/simulate/simulate_command.hpp"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "actors/traffic/report_json.hpp"
#include "tools/cli/cli.hpp"
#include "tools/simulate/simulate_options.hpp"
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

void add_queue_line(ReportLines& lines, const SimulationNotes& notes) {
  const Histogram* queue = notes.observed("vllm:request_queue_time_seconds");
  if (queue == nullptr) return;
  lines.emplace_back("Queue time mean / P99 (ms)",
                     format("%.2f / %.2f", queue->mean() * 1e3, queue->percentile(99) * 1e3));
}

ReportLines simulation_lines(SimulatedCluster& cluster, const SimulateSettings& settings,
                             const std::string& driver, double wall) {
  World& world = cluster.world();
  const double span = cluster.traffic().report().duration().seconds();
  ReportLines lines;
  lines.emplace_back("Seed", std::to_string(settings.scenario.seed));
  lines.emplace_back("Cluster", shape_text(settings.scenario.cluster));
  lines.emplace_back("Virtual duration (s)", format("%.3f", span));
  lines.emplace_back("Wall time (s)", format("%.3f", wall));
  lines.emplace_back("Speed-up", format("%.1f", span / wall));
  lines.emplace_back("Events", std::to_string(world.events()));
  lines.emplace_back("Events per second",
                     format("%.0f", static_cast<double>(world.events()) / wall));
  lines.emplace_back("Driver", driver);
  lines.emplace_back("Trace hash", format("%016" PRIx64, world.trace_hash()));
  add_queue_line(lines, cluster.notes());
  lines.emplace_back("Preemptions",
                     format("%.0f", cluster.notes().counted("vllm:num_preemptions_total")));
  const auto& faults = cluster.faults();
  lines.emplace_back("Killed actors / dropped messages",
                     format("%" PRIu64 " / %" PRIu64, faults.kills(), faults.messages_dropped));
  lines.emplace_back("Cost source", settings.cost_source);
  int number = 0;
  for (const auto& text : cluster.cost().describe()) {
    lines.emplace_back("Cost " + std::to_string(++number), text);
  }
  const std::string beyond = cluster.cost().extrapolation();
  if (!beyond.empty()) lines.emplace_back("EXTRAPOLATION", beyond);
  if (!settings.memory_warning.empty()) lines.emplace_back("MEMORY", settings.memory_warning);
  const LatencyModel links;  // the cluster's: it sets none of its own
  lines.emplace_back("Links",
                     format("%.0f us within a node, %.0f us between nodes (placeholders)",
                            links.local.milliseconds() * 1000, links.remote.milliseconds() * 1000));
  return lines;
}

void print_report(const TrafficReport& report, const ReportLines& lines,
                  const SimulateOptions& options) {
  const std::string text = options.json                 ? report_json(report, lines) + "\n"
                           : options.format == "aiperf" ? aiperf_table(report, lines)
                                                        : vllm_block(report, lines);
  std::fputs(text.c_str(), stdout);
}

Result<int> simulate(const SimulateOptions& options) {
  TROUPE_TRY_ASSIGN(const SimulateSettings settings, options.load());
  SimulatedCluster::Options cluster_options;
  TROUPE_TRY_ASSIGN(cluster_options.make_world, make_driver(options.driver));
  cluster_options.cost = settings.cost;
  TROUPE_TRY_ASSIGN(auto cluster,
                    SimulatedCluster::make(settings.scenario, std::move(cluster_options)));
  const auto begin = std::chrono::steady_clock::now();
  const Status status = cluster->run();
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  print_report(cluster->traffic().report(),
               simulation_lines(*cluster, settings, options.driver, wall), options);
  std::vector<std::string> broken = broken_rules(*cluster);
  if (!status.ok()) broken.insert(broken.begin(), status.error().message);
  if (broken.empty()) return cli::kOk;
  std::fprintf(stderr, "troupe: the run broke %zu rule(s); seed %" PRIu64 ":\n", broken.size(),
               settings.scenario.seed);
  for (const auto& line : broken) std::fprintf(stderr, "troupe:   %s\n", line.c_str());
  std::fprintf(stderr, "troupe: replay: %s\n", options.replay(settings.scenario.seed).c_str());
  return cli::kFailure;
}

}  // namespace

void add_simulate_command(cli::Command& program) {
  cli::Command command =
      program.command("simulate", "Run the whole request path on simulated GPUs");
  const auto options = std::make_shared<SimulateOptions>(command);
  command.run([options] {
    const Result<int> result = simulate(*options);
    return result.ok() ? *result : cli::report(result.error());
  });
}

}  // namespace troupe
