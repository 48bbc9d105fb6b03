#include "tools/simulate/simulate_command.hpp"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <iostream>
#include <memory>

#include "actors/traffic/report_json.hpp"
#include "runtime/base/huge_pages.hpp"
#include "tools/cli/cli.hpp"
#include "tools/simulate/engine_cluster.hpp"
#include "tools/simulate/group_timing.hpp"
#include "tools/simulate/pd_recorder.hpp"
#include "tools/simulate/pd_report.hpp"
#include "tools/simulate/perfetto.hpp"
#include "tools/simulate/report_page.hpp"
#include "tools/simulate/run_control.hpp"
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
            const std::string& replay) {
  if (!status.ok()) broken.insert(broken.begin(), status.error().message);
  if (broken.empty()) return cli::kOk;
  std::fprintf(stderr, "troupe: the run broke %zu rule(s); seed %" PRIu64 ":\n", broken.size(),
               seed);
  for (const auto& line : broken) std::fprintf(stderr, "troupe:   %s\n", line.c_str());
  std::fprintf(stderr, "troupe: replay: %s\n", replay.c_str());
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

/// A run that may be begun anew: what one life of it needs.
template <class Cluster>
struct Driven {
  std::unique_ptr<PdRecorder> recorder;  ///< before the cluster, which calls it
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<DrivenRun> run;

  void end() {
    run.reset();
    cluster.reset();
    recorder.reset();
  }
};

struct Control {
  RunControlFlags flags;
  bool sweep_every_event = false;
};

/// True: the run came to its end.
Result<bool> drive(const Control& control, const RunControl::Make& make, const LastEvent& last,
                   const SimulateOptions& options) {
  std::FILE* const out = options.json ? stderr : stdout;
  TROUPE_TRY_ASSIGN(RunControl driver, RunControl::make(control.flags, make, last, std::cin, out));
  return driver.drive();
}

/// A cluster with prefill and decode apart.
class DrivenPlan {
 public:
  DrivenPlan(const ClusterPlan& plan, const TrafficPlan& load, const SimulateOptions& options,
             const Control& control)
      : plan_(plan), load_(load), options_(options), control_(control) {}

  Result<int> run() {
    const auto begin = std::chrono::steady_clock::now();
    const auto whole = drive(
        control_, [this] { return make(); }, last_, options_);
    // A load that does not end is a broken rule; what keeps it from beginning is an error.
    if (!whole.ok() && whole.error().code != Code::kDeadline) return whole.error();
    const double wall = seconds_since(begin);
    PdCluster& cluster = *driven_.cluster;
    const TrafficReport& report = cluster.traffic().report();
    ReportLines lines;
    lines.push_back({"Seed", "seed", plan_.seed});
    add_run(lines, cluster.world(), report.duration().seconds(), options_.driver, wall);
    for (auto& line : pd_lines(cluster)) lines.push_back(std::move(line));
    print_report(report, lines, options_);
    TROUPE_TRY(write_files(cluster, *driven_.recorder, lines, options_));
    std::vector<std::string> broken = cluster.broken_rules();
    std::string replay = options_.replay(plan_.seed);
    if (control_.sweep_every_event) replay += " --check-every-event";
    if (whole.ok() && !*whole) return verdict(ok_status(), std::move(broken), plan_.seed, replay);
    for (auto& line : unmet_expectations(cluster)) broken.push_back(std::move(line));
    if (broken.empty() && report.total() > 0 && report.count(Outcome::kOk) == 0) {
      std::fprintf(
          stderr, "troupe: no request was answered; most often: %s\n",
          report.errors().empty() ? "left by its client" : report.errors().begin()->first.c_str());
      return cli::kFailure;
    }
    const Status ended = whole.ok() ? ok_status() : Status(whole.error());
    return verdict(ended, std::move(broken), plan_.seed, replay);
  }

 private:
  Result<DrivenRun*> make() {
    PdCluster::Options cluster;
    TROUPE_TRY_ASSIGN(cluster.make_world, make_driver(options_.driver));
    cluster.load = load_;
    cluster.sweep_every_event = control_.sweep_every_event;
    driven_.end();
    driven_.recorder =
        std::make_unique<PdRecorder>(recorded(options_), plan_.encoders.machines > 0);
    if (!options_.report.empty() || !options_.perfetto.empty()) driven_.recorder->watch(cluster);
    if (control_.flags.prompts()) {
      cluster.observer = [this, watched = cluster.observer](Time now, const Envelope& envelope) {
        last_.see(now, envelope);
        if (watched) watched(now, envelope);
      };
    }
    TROUPE_TRY_ASSIGN(driven_.cluster, PdCluster::make(plan_, std::move(cluster)));
    driven_.run = std::make_unique<DrivenCluster<PdCluster>>(*driven_.cluster);
    return driven_.run.get();
  }

  const ClusterPlan& plan_;
  const TrafficPlan& load_;
  const SimulateOptions& options_;
  const Control& control_;
  LastEvent last_;
  Driven<PdCluster> driven_;
};

/// Engines that prefill and decode.
Result<int> simulate_engines(const EnginePlan& plan, const TrafficPlan& load,
                             const SimulateOptions& options, const Control& control) {
  LastEvent last;
  StepTiming timing;
  Driven<EngineCluster> driven;
  const auto make = [&]() -> Result<DrivenRun*> {
    TROUPE_TRY_ASSIGN(
        timing, step_timing(plan.timing, HostTime::of_us(plan.host_step_us, plan.host_row_us)));
    EngineCluster::Options cluster;
    TROUPE_TRY_ASSIGN(cluster.make_world, make_driver(options.driver));
    cluster.load = load;
    if (timing.model != nullptr) cluster.cost = timing.model;
    if (control.flags.prompts()) {
      cluster.observer = [&last](Time now, const Envelope& event) { last.see(now, event); };
    }
    driven = {};
    TROUPE_TRY_ASSIGN(driven.cluster, EngineCluster::make(plan, std::move(cluster)));
    driven.run = std::make_unique<DrivenCluster<EngineCluster>>(*driven.cluster);
    return driven.run.get();
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto whole = drive(control, make, last, options);
  if (!whole.ok() && whole.error().code != Code::kDeadline) return whole.error();
  const double wall = seconds_since(begin);
  EngineCluster* const cluster = driven.cluster.get();
  const TrafficReport& report = cluster->traffic().report();
  ReportLines lines;
  lines.push_back({"Seed", "seed", plan.seed});
  add_run(lines, cluster->world(), report.duration().seconds(), options.driver, wall);
  lines.push_back({"Step times", "timing", plan.timing});
  for (auto& line : cluster->lines()) lines.push_back(std::move(line));
  const std::string memory =
      timing.table == nullptr
          ? ""
          : memory_warning(*timing.table, static_cast<double>(plan.limits.kv_tokens));
  if (!memory.empty()) lines.push_back({"MEMORY", "memory_warning", memory});
  print_report(report, lines, options);
  if (whole.ok() && !*whole) return cli::kOk;
  const Status ended = whole.ok() ? ok_status() : Status(whole.error());
  return verdict(ended, cluster->broken_rules(), plan.seed, options.replay(plan.seed));
}

/// Nodes whose ranks do both.
Result<int> simulate_scenario(const SimulateSettings& settings, const SimulateOptions& options,
                              const Control& control) {
  LastEvent last;
  Driven<SimulatedCluster> driven;
  const auto make = [&]() -> Result<DrivenRun*> {
    SimulatedCluster::Options cluster;
    TROUPE_TRY_ASSIGN(cluster.make_world, make_driver(options.driver));
    cluster.cost = settings.cost;
    cluster.load = settings.load;
    if (control.flags.prompts()) {
      cluster.observer = [&last](Time now, const Envelope& event) { last.see(now, event); };
    }
    driven.end();
    TROUPE_TRY_ASSIGN(driven.cluster,
                      SimulatedCluster::make(settings.scenario, std::move(cluster)));
    driven.run = std::make_unique<DrivenCluster<SimulatedCluster>>(*driven.cluster);
    return driven.run.get();
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto whole = drive(control, make, last, options);
  if (!whole.ok() && whole.error().code != Code::kDeadline) return whole.error();
  const double wall = seconds_since(begin);
  SimulatedCluster& cluster = *driven.cluster;
  print_report(cluster.traffic().report(),
               simulation_lines(cluster, settings, options.driver, wall), options);
  if (whole.ok() && !*whole) return cli::kOk;
  const Status ended = whole.ok() ? ok_status() : Status(whole.error());
  return verdict(ended, broken_rules(cluster), settings.scenario.seed,
                 options.replay(settings.scenario.seed));
}

Result<int> simulate(const SimulateOptions& options, const Control& control) {
  (void)use_huge_pages();
  TROUPE_TRY_ASSIGN(const SimulateSettings settings, options.load());
  if (settings.plan) return DrivenPlan(*settings.plan, settings.load, options, control).run();
  if (!options.report.empty() || !options.perfetto.empty() || control.sweep_every_event) {
    return Error{Code::kInvalid,
                 "--report, --perfetto and --check-every-event need the plan of a cluster with "
                 "prefill and decode apart (--config, for example config/sim-128.yaml)"};
  }
  if (settings.engines) return simulate_engines(*settings.engines, settings.load, options, control);
  return simulate_scenario(settings, options, control);
}

}  // namespace

void add_simulate_command(cli::Command& program) {
  cli::Command command =
      program.command("simulate", "Run the whole request path on simulated GPUs");
  const auto options = std::make_shared<SimulateOptions>(command);
  const auto control = std::make_shared<Control>();
  control->flags.add(command);
  command.flag("--check-every-event", control->sweep_every_event,
               "look at all rules of a cluster after each event: slow, for small runs");
  add_sweep_command(command);
  add_compare_command(command);
  command.run([options, control] {
    const Result<int> result = simulate(*options, *control);
    return result.ok() ? *result : cli::report(result.error());
  });
}

}  // namespace troupe
