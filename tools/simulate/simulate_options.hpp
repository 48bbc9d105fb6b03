// The flags of `troupe simulate`, and the scenario that they make.
//
// --scenario FILE is the start (else an empty scenario); flags that are given change it. --config
// FILE takes the engine's and the gateway's limits and the simulated GPU's constants from a node's
// configuration; if FILE is the plan of a cluster with prefill and decode apart (cluster_plan.hpp)
// or of engines that do both (engine_plan.hpp), that cluster is simulated, and only flags of the
// load and of step times change it. Flags of the load are those of `troupe traffic`
// (tools/traffic/load_options.hpp); what they do not say is the scenario's or the plan's
// workload. --timing says where step times
// come from: formula:v41, or a table's file; to the latter the --host-… flags add what an engine's
// host takes.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/simulation/cluster_plan.hpp"
#include "runtime/simulation/cost_model.hpp"
#include "runtime/simulation/engine_plan.hpp"
#include "runtime/simulation/scenario.hpp"
#include "tools/cli/command.hpp"
#include "tools/config/node_config.hpp"
#include "tools/traffic/load_options.hpp"

namespace troupe {

struct SimulateSettings {
  Scenario scenario;
  std::shared_ptr<StepCost> cost;
  std::string cost_source;
  /// At most one of both; then scenario, cost and its source say nothing.
  std::optional<ClusterPlan> plan;
  std::optional<EnginePlan> engines;
  TrafficPlan load;            ///< instead of the scenario's or the plan's workload
  std::string memory_warning;  ///< empty: what the GPUs hold fits, as far as the source tells
};

class SimulateOptions {
 public:
  explicit SimulateOptions(cli::Command& command);
  SimulateOptions(const SimulateOptions&) = delete;
  SimulateOptions& operator=(const SimulateOptions&) = delete;

  Result<SimulateSettings> load() const;
  /// The command that gives the same run again.
  std::string replay(std::uint64_t seed) const;

  std::string driver = "heap";
  std::string format = "vllm";
  bool json = false;
  std::string report;    ///< file; empty: none
  std::string perfetto;  ///< file; empty: none

 private:
  template <class Section, class T>
  cli::Option flag(cli::Command& command, const std::string& name, Section Scenario::*section,
                   T Section::*member, const std::string& text);
  /// In seconds on the command line.
  template <class Section>
  void time_flag(cli::Command& command, const std::string& name, Section Scenario::*section,
                 Duration Section::*member, const std::string& text);
  void add_cluster(cli::Command& command);
  void add_timing(cli::Command& command);
  static void take_config(const config::NodeConfig& node, Scenario& scenario);
  /// Errors: two files that are written are one.
  Status check_files() const;
  /// Empty: --config is no plan of a cluster. Errors: flags that do not go with one.
  Result<std::string> read_plan_text() const;
  Status load_plans(SimulateSettings& settings) const;
  template <class Plan>
  Status take_flags(Plan& plan, SimulateSettings& settings) const;
  Status take_scenario(SimulateSettings& settings) const;
  Status take_timing(const std::optional<config::NodeConfig>& node,
                     SimulateSettings& settings) const;

  std::string scenario_file_;
  std::string config_file_;
  std::string timing_;
  double host_step_us_ = 0;
  double host_row_us_ = 0;
  bool explore_ = false;
  std::string async_;
  Scenario given_;              ///< what the flags say
  std::deque<double> seconds_;  ///< and those in seconds; a deque: options keep pointers
  std::vector<cli::Option> options_;
  std::size_t shape_flags_ = 0;  ///< options_ from here on do not fit a cluster's plan
  std::optional<cli::Option> async_option_;
  std::optional<cli::Option> host_step_option_, host_row_option_;
  /// Each copies a flag's value into a scenario, if the flag was given.
  std::vector<std::function<void(Scenario&)>> copies_;
  LoadOptions load_;
};

}  // namespace troupe
