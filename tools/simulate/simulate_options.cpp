#include "tools/simulate/simulate_options.hpp"

#include <filesystem>
#include <fstream>

#include "runtime/device/device.hpp"
#include "tools/node/node_options.hpp"
#include "tools/node/simulated_cost.hpp"
#include "tools/simulate/assembly.hpp"
#include "tools/simulate/group_timing.hpp"
#include "tools/simulate/simulated_load.hpp"

namespace troupe {

namespace {

/// Of a plan; whatever is larger is read, and refused, as something else.
constexpr std::size_t kPlanBytesMost = 1u << 20;

}  // namespace

SimulateOptions::SimulateOptions(cli::Command& command) : load_(command) {
  options_.push_back(
      command.option("--scenario", scenario_file_, "YAML file with load, faults, expectations")
          .value_name("FILE"));
  options_.push_back(
      command
          .option("--config", config_file_,
                  "plan of a cluster (config/sim-128.yaml), or a node's configuration")
          .value_name("FILE"));
  add_timing(command);
  options_.push_back(command.flag("--explore", explore_,
                                  "draw the order of events that are due at the same time"));
  command.option("--driver", driver, "heap, or caf: actors hosted for real, slower")
      .one_of({"heap", "caf"})
      .show_default();
  command.option("--format", format, "table to print").one_of({"vllm", "aiperf"}).show_default();
  command.flag("--json", json, "print one JSON object instead of a table");
  command.option("--report", report, "page with curves, distributions and the slowest requests")
      .value_name("FILE.html");
  command.option("--perfetto", perfetto, "trace of requests and counters for Perfetto's viewer")
      .value_name("FILE.json");
  shape_flags_ = options_.size();
  add_cluster(command);
}

template <class Section, class T>
cli::Option SimulateOptions::flag(cli::Command& command, const std::string& name,
                                  Section Scenario::*section, T Section::*member,
                                  const std::string& text) {
  const cli::Option option = command.option(name, given_.*section.*member, text).show_default();
  options_.push_back(option);
  copies_.push_back([this, option, section, member](Scenario& scenario) {
    if (option.given()) scenario.*section.*member = given_.*section.*member;
  });
  return option;
}

template <class Section>
void SimulateOptions::time_flag(cli::Command& command, const std::string& name,
                                Section Scenario::*section, Duration Section::*member,
                                const std::string& text) {
  double& value = seconds_.emplace_back((given_.*section.*member).seconds());
  const cli::Option option =
      command.option(name, value, text + ", seconds").between(0, 1e8).show_default();
  options_.push_back(option);
  copies_.push_back([option, section, member, &value](Scenario& scenario) {
    if (option.given()) scenario.*section.*member = from_seconds(value);
  });
}

void SimulateOptions::add_timing(cli::Command& command) {
  constexpr double kMostUs = 1e6;
  options_.push_back(command
                         .option("--timing", timing_,
                                 "step times: formula:v41, or a file of measured ones "
                                 "(tools/export-timing)")
                         .value_name("SOURCE"));
  host_step_option_ =
      command.option("--host-step-us", host_step_us_, "what the engine's host adds to a step")
          .between(0, kMostUs)
          .show_default();
  host_row_option_ =
      command.option("--host-row-us", host_row_us_, "and to each row that gets a token")
          .between(0, kMostUs)
          .show_default();
  options_.push_back(*host_step_option_);
  options_.push_back(*host_row_option_);
}

void SimulateOptions::add_cluster(cli::Command& command) {
  constexpr auto kShape = &Scenario::cluster;
  // As in a scenario's file (runtime/simulation/scenario.cpp).
  constexpr double kMany = 1u << 30;
  flag(command, "--nodes", kShape, &ClusterShape::nodes, "nodes; the first has the gateway")
      .between(1, 1024);
  flag(command, "--ranks", kShape, &ClusterShape::ranks, "simulated GPUs a node").between(1, 4096);
  flag(command, "--blocks", kShape, &ClusterShape::blocks, "KV blocks (128 tokens) a GPU")
      .between(1, kMany);
  flag(command, "--max-num-seqs", kShape, &ClusterShape::max_num_seqs, "rows a GPU runs at once")
      .between(1, 65536);
  flag(command, "--max-num-batched-tokens", kShape, &ClusterShape::max_num_batched_tokens,
       "tokens of one step")
      .between(1, kMany);
  async_option_ = command.toggle("async", async_, "two steps in flight on a GPU [true]");
  time_flag(command, "--request-timeout", kShape, &ClusterShape::request_timeout,
            "the server's deadline of a request");
}

void SimulateOptions::take_config(const config::NodeConfig& node, Scenario& scenario) {
  ClusterShape& shape = scenario.cluster;
  shape.ranks = static_cast<std::uint32_t>(node.engine.ranks);
  shape.max_num_seqs = static_cast<std::uint32_t>(node.engine.max_num_seqs);
  shape.max_num_batched_tokens = static_cast<std::uint32_t>(node.engine.max_num_batched_tokens);
  if (node.engine.kv_blocks > 0) {
    shape.blocks = static_cast<std::uint32_t>(node.engine.kv_blocks);
  }
  shape.async_steps = node.engine.async;
  shape.rank_queue_max = static_cast<std::uint32_t>(node.gateway.max_queue);
  shape.request_timeout = node.gateway.request_timeout;
}

Status SimulateOptions::take_timing(const std::optional<config::NodeConfig>& node,
                                    SimulateSettings& settings) const {
  TROUPE_TRY_ASSIGN(StepTiming timing,
                    step_timing(timing_, HostTime::of_us(host_step_us_, host_row_us_)));
  if (timing.table == nullptr) {
    settings.cost = std::make_shared<CostModel>(node ? cost_model_of(node->simulated, config_file_)
                                                     : CostModel());
    settings.cost_source = node ? config_file_ + " (the rest: docs/simulation.md, Costs)"
                                : "formula:v41 (docs/simulation.md, Costs)";
    return ok_status();
  }
  const ClusterShape& shape = settings.scenario.cluster;
  settings.memory_warning = memory_warning(*timing.table, double{kKvBlockTokens} * shape.blocks);
  settings.cost = std::move(timing.model);
  settings.cost_source = timing_;
  return ok_status();
}

Result<std::string> SimulateOptions::read_plan_text() const {
  std::string text;
  if (config_file_.empty()) return text;
  std::ifstream stream(config_file_, std::ios::binary);
  text.resize(kPlanBytesMost + 1);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  const bool plan =
      text.size() <= kPlanBytesMost && (is_cluster_plan(text) || is_engine_plan(text));
  if (!plan) return std::string();
  for (std::size_t i = 0; i < options_.size(); ++i) {
    const std::string name = options_[i].name();
    const bool fits = i < shape_flags_ && name != "--scenario";
    if (fits || !options_[i].given()) continue;
    return Error{Code::kInvalid,
                 name + ": not with the plan of a cluster; set it in " + config_file_};
  }
  return text;
}

/// What flags change of either kind of plan.
template <class Plan>
Status SimulateOptions::take_flags(Plan& plan, SimulateSettings& settings) const {
  plan.explore_ties = plan.explore_ties || explore_;
  if (!timing_.empty()) plan.timing = timing_;
  if (host_step_option_->given()) plan.host_step_us = host_step_us_;
  if (host_row_option_->given()) plan.host_row_us = host_row_us_;
  TROUPE_TRY_ASSIGN(settings.load,
                    simulated_load(load_, plan.workload, plan.seed, images_taken_by(plan)));
  plan.seed = settings.load.seed;
  return ok_status();
}

Status SimulateOptions::load_plans(SimulateSettings& settings) const {
  TROUPE_TRY_ASSIGN(const std::string text, read_plan_text());
  if (text.empty()) return ok_status();
  if (is_engine_plan(text)) {
    TROUPE_TRY_ASSIGN(settings.engines, parse_engine_plan(text, config_file_));
    return take_flags(*settings.engines, settings);
  }
  TROUPE_TRY_ASSIGN(settings.plan, parse_cluster_plan(text, config_file_));
  return take_flags(*settings.plan, settings);
}

Status SimulateOptions::take_scenario(SimulateSettings& settings) const {
  Scenario& scenario = settings.scenario;
  if (!scenario_file_.empty()) {
    TROUPE_TRY_ASSIGN(scenario, load_scenario(scenario_file_, wire_message_names()));
  }
  std::optional<config::NodeConfig> node;
  if (!config_file_.empty()) {
    config::Inputs inputs;
    TROUPE_TRY_ASSIGN(auto file, read_config_file(config_file_));
    inputs.files.push_back(std::move(file));
    TROUPE_TRY_ASSIGN(auto loaded, config::load_node_config(inputs));
    take_config(loaded.config, scenario);
    node = std::move(loaded.config);
  }
  for (const auto& copy : copies_) copy(scenario);
  if (async_option_->given()) scenario.cluster.async_steps = async_ == "true";
  scenario.explore_ties = scenario.explore_ties || explore_;
  return take_timing(node, settings);
}

Status SimulateOptions::check_files() const {
  std::error_code ignored;
  const auto whole = [&](const std::string& file) {
    return std::filesystem::weakly_canonical(file, ignored);
  };
  std::vector<std::string> inputs = load_.files();
  inputs.insert(inputs.end(), {config_file_, scenario_file_, timing_});
  for (const std::string& input : inputs) {
    for (const std::string& output : {report, perfetto}) {
      if (input.empty() || output.empty() || whole(input) != whole(output)) continue;
      return Error{Code::kInvalid, "the run would write over what it reads, " + output +
                                       "; give another file with --report or --perfetto"};
    }
  }
  if (report.empty() || perfetto.empty() || whole(report) != whole(perfetto)) return ok_status();
  return Error{Code::kInvalid, "--report and --perfetto name the same file, " + report +
                                   "; one would replace the other"};
}

Result<SimulateSettings> SimulateOptions::load() const {
  SimulateSettings settings;
  TROUPE_TRY(check_files());
  TROUPE_TRY(load_plans(settings));
  if (settings.plan || settings.engines) return settings;
  TROUPE_TRY(take_scenario(settings));
  Scenario& scenario = settings.scenario;
  TROUPE_TRY_ASSIGN(settings.load, simulated_load(load_, scenario.workload, scenario.seed));
  scenario.seed = settings.load.seed;
  return settings;
}

std::string SimulateOptions::replay(std::uint64_t seed) const {
  std::string command = "troupe simulate --driver " + driver + " --seed " + std::to_string(seed);
  for (const cli::Option& option : options_) {
    if (!option.given()) continue;
    command += " " + option.name();
    if (!option.takes_value()) continue;
    command += " '" + option.text() + "'";
  }
  if (async_option_->given()) command += async_ == "true" ? " --async" : " --no-async";
  return command + load_.words();
}

}  // namespace troupe
