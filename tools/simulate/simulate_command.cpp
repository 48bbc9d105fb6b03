#include "tools/simulate/simulate_command.hpp"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <iostream>
#include <memory>
#include <type_traits>

#include "actors/traffic/report_json.hpp"
#include "runtime/base/huge_pages.hpp"
#include "tools/cli/cli.hpp"
#include "tools/simulate/engine_recorder.hpp"
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

void add_cut(ReportLines& lines, const World& world) {
  lines.push_back(
      {"LEFT, before its end, at (s)", "left_at_s", (world.now() - Time()).seconds(), 3});
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

int verdict(const TrafficReport& report, const Status& status, std::vector<std::string> broken,
            std::uint64_t seed, const std::string& replay) {
  if (report.broken()) return cli::report(*report.broken());
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

Status write_files(const ReportPage& page, const RunRecorder& recorder,
                   const SimulateOptions& options) {
  if (!options.perfetto.empty()) {
    const std::string trace =
        perfetto_trace(recorder.timelines().first(), recorder.series(), page.marks);
    TROUPE_TRY(write_report_file(options.perfetto, trace));
    const std::uint64_t left_out = recorder.timelines().left_out();
    std::fprintf(
        stderr, "troupe: %s: %zu requests%s\n", options.perfetto.c_str(),
        recorder.timelines().first().size(),
        left_out == 0 ? "" : format(", %" PRIu64 " later ones left out", left_out).c_str());
  }
  if (options.report.empty()) return ok_status();
  TROUPE_TRY(write_report_file(options.report, html_of(page)));
  std::fprintf(stderr, "troupe: %s: open it in a browser\n", options.report.c_str());
  return ok_status();
}

/// A run that may be begun anew: what one life of it needs.
template <class Cluster, class Recorder>
struct Driven {
  std::unique_ptr<Recorder> recorder;  ///< before the cluster, which calls it
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

// What the two kinds of plans differ in.
ReportLines lines_of(PdCluster& cluster) {
  return pd_lines(cluster);
}
ReportLines lines_of(EngineCluster& cluster) {
  return cluster.lines();
}
std::string shape_of(const ClusterPlan& plan) {
  return shape_text(plan);
}
std::string shape_of(const EnginePlan& plan) {
  return plan.shape_text();
}
const FaultMarks* marks_of(PdCluster& cluster) {
  return cluster.plan().faults.empty() ? nullptr : &cluster.fault_marks();
}
const FaultMarks* marks_of(EngineCluster&) {
  return nullptr;  // its plan has no faults
}
std::vector<std::string> unmet(PdCluster& cluster) {
  return unmet_expectations(cluster);
}
std::vector<std::string> unmet(EngineCluster&) {
  return {};  // its plan has none
}
void set_sweep(PdCluster::Options& options, bool every_event) {
  options.sweep_every_event = every_event;
}
void set_sweep(EngineCluster::Options&, bool) {}

std::unique_ptr<PdRecorder> recorder_of(const ClusterPlan& plan, RequestTimelines::Limits limits) {
  return std::make_unique<PdRecorder>(limits, plan.encoders.machines > 0);
}
std::unique_ptr<EngineRecorder> recorder_of(const EnginePlan&, RequestTimelines::Limits limits) {
  return std::make_unique<EngineRecorder>(limits);
}

/// The plan of a cluster, run once or as often as the run control begins it anew.
template <class Cluster, class Plan, class Recorder>
class DrivenPlan {
 public:
  DrivenPlan(const Plan& plan, const TrafficPlan& load, const SimulateOptions& options,
             const Control& control)
      : plan_(plan), load_(load), options_(options), control_(control) {}

  Result<int> run() {
    const auto begin = std::chrono::steady_clock::now();
    const auto whole = drive(
        control_, [this] { return make(); }, last_, options_);
    // A load that does not end is a broken rule; what keeps it from beginning is an error.
    if (!whole.ok() && whole.error().code != Code::kDeadline) return whole.error();
    Cluster& cluster = *driven_.cluster;
    const TrafficReport& report = cluster.traffic().report();
    ReportLines lines;
    lines.push_back({"Seed", "seed", plan_.seed});
    add_run(lines, cluster.world(), report.duration().seconds(), options_.driver,
            seconds_since(begin));
    if (whole.ok() && !*whole) add_cut(lines, cluster.world());
    for (auto& line : lines_of(cluster)) lines.push_back(std::move(line));
    print_report(report, lines, options_);
    TROUPE_TRY(write_files(page_of(cluster, std::move(lines)), *driven_.recorder, options_));
    return judge(cluster, whole);
  }

 private:
  int judge(Cluster& cluster, const Result<bool>& whole) {
    const TrafficReport& report = cluster.traffic().report();
    // Rules of the whole are not kept by a run that was left in its midst.
    const bool left = whole.ok() && !*whole;
    std::vector<std::string> broken;
    if (!left || std::is_same_v<Cluster, PdCluster>) broken = cluster.broken_rules();
    std::string replay = options_.replay(plan_.seed);
    if (control_.sweep_every_event) replay += " --check-every-event";
    if (left) return verdict(report, ok_status(), std::move(broken), plan_.seed, replay);
    for (auto& line : unmet(cluster)) broken.push_back(std::move(line));
    const bool none = report.total() > 0 && report.count(Outcome::kOk) == 0;
    if (broken.empty() && none && !report.broken()) {
      std::fprintf(stderr, "troupe: no request was answered; most often: %s\n",
                   report.commonest_error().c_str());
      return cli::kFailure;
    }
    const Status ended = whole.ok() ? ok_status() : Status(whole.error());
    return verdict(report, ended, std::move(broken), plan_.seed, replay);
  }

  ReportPage page_of(Cluster& cluster, ReportLines lines) {
    ReportPage page;
    page.title = plan_.name.empty() ? shape_of(cluster.plan()) : plan_.name;
    page.command = options_.replay(plan_.seed);
    page.traffic = &cluster.traffic().report();
    page.series = &driven_.recorder->series();
    page.marks = marks_of(cluster);
    page.slowest = driven_.recorder->timelines().slowest();
    page.facts = std::move(lines);
    return page;
  }

  Result<DrivenRun*> make() {
    typename Cluster::Options cluster;
    TROUPE_TRY_ASSIGN(cluster.make_world, make_driver(options_.driver));
    cluster.load = load_;
    set_sweep(cluster, control_.sweep_every_event);
    driven_.end();
    driven_.recorder = recorder_of(plan_, recorded(options_));
    if (!options_.report.empty() || !options_.perfetto.empty()) driven_.recorder->watch(cluster);
    if (control_.flags.prompts()) {
      cluster.observer = [this, watched = cluster.observer](Time now, const Envelope& envelope) {
        last_.see(now, envelope);
        if (watched) watched(now, envelope);
      };
    }
    TROUPE_TRY_ASSIGN(driven_.cluster, Cluster::make(plan_, std::move(cluster)));
    driven_.run = std::make_unique<DrivenCluster<Cluster>>(*driven_.cluster);
    return driven_.run.get();
  }

  const Plan& plan_;
  const TrafficPlan& load_;
  const SimulateOptions& options_;
  const Control& control_;
  LastEvent last_;
  Driven<Cluster, Recorder> driven_;
};
using DrivenPools = DrivenPlan<PdCluster, ClusterPlan, PdRecorder>;
using DrivenEngines = DrivenPlan<EngineCluster, EnginePlan, EngineRecorder>;

/// Nodes whose ranks do both.
Result<int> simulate_scenario(const SimulateSettings& settings, const SimulateOptions& options,
                              const Control& control) {
  LastEvent last;
  Driven<SimulatedCluster, PdRecorder> driven;  // no recorder is made
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
  ReportLines lines = simulation_lines(cluster, settings, options.driver, wall);
  const bool left = whole.ok() && !*whole;
  if (left) add_cut(lines, cluster.world());
  print_report(cluster.traffic().report(), lines, options);
  if (left) return cli::kOk;
  const Status ended = whole.ok() ? ok_status() : Status(whole.error());
  return verdict(cluster.traffic().report(), ended, broken_rules(cluster), settings.scenario.seed,
                 options.replay(settings.scenario.seed));
}

Result<int> simulate(const SimulateOptions& options, const Control& control) {
  (void)use_huge_pages();
  TROUPE_TRY_ASSIGN(const SimulateSettings settings, options.load());
  if (settings.plan) return DrivenPools(*settings.plan, settings.load, options, control).run();
  if (control.sweep_every_event) {
    return Error{Code::kInvalid,
                 "--check-every-event needs the plan of a cluster with prefill and decode apart "
                 "(--config, for example config/sim-128.yaml)"};
  }
  if (settings.engines) {
    return DrivenEngines(*settings.engines, settings.load, options, control).run();
  }
  if (!options.report.empty() || !options.perfetto.empty()) {
    return Error{Code::kInvalid,
                 "--report and --perfetto need the plan of a cluster (--config, for example "
                 "config/sim-128.yaml)"};
  }
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
