#include "tools/simulate/simulate_options.hpp"

#include "tools/node/node_options.hpp"
#include "tools/simulate/assembly.hpp"

namespace troupe {

SimulateOptions::SimulateOptions(cli::Command& command) {
  options_.push_back(
      command.option("--scenario", scenario_file_, "YAML file with load, faults, expectations")
          .value_name("FILE"));
  options_.push_back(
      command.option("--config", config_file_, "node configuration: limits and GPU constants")
          .value_name("FILE"));
  seed_option_ = command.option("--seed", seed_, "decides everything that is drawn").show_default();
  options_.push_back(command.flag("--explore", explore_,
                                  "draw the order of events that are due at the same time"));
  command.option("--driver", driver, "heap, or caf: actors hosted for real, slower")
      .one_of({"heap", "caf"})
      .show_default();
  command.option("--format", format, "table to print").one_of({"vllm", "aiperf"}).show_default();
  command.flag("--json", json, "print one JSON object instead of a table");
  add_load(command);
  add_cluster(command);
}

template <class Section, class T>
void SimulateOptions::flag(cli::Command& command, const std::string& name,
                           Section Scenario::*section, T Section::*member,
                           const std::string& text) {
  const cli::Option option = command.option(name, given_.*section.*member, text).show_default();
  options_.push_back(option);
  copies_.push_back([this, option, section, member](Scenario& scenario) {
    if (option.given()) scenario.*section.*member = given_.*section.*member;
  });
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

void SimulateOptions::add_load(cli::Command& command) {
  constexpr auto kLoad = &Scenario::workload;
  flag(command, "--concurrency", kLoad, &Workload::concurrency,
       "closed loop: requests under way; 1 if no rate is given");
  flag(command, "--request-rate", kLoad, &Workload::request_rate, "open loop: requests a second");
  flag(command, "--burstiness", kLoad, &Workload::burstiness, "gamma shape of gaps; 1: Poisson");
  flag(command, "--num-requests", kLoad, &Workload::num_requests,
       "measured requests; 0: until --duration, or 100");
  time_flag(command, "--duration", kLoad, &Workload::duration, "start none later");
  flag(command, "--warmup", kLoad, &Workload::warmup, "requests before the measured ones");
  flag(command, "--isl", kLoad, &Workload::isl, "prompt tokens");
  flag(command, "--isl-stddev", kLoad, &Workload::isl_stddev, "their deviation");
  flag(command, "--osl", kLoad, &Workload::osl, "answer tokens");
  flag(command, "--osl-spread", kLoad, &Workload::osl_spread, "uniform within OSL +- this");
  flag(command, "--cancel-rate", kLoad, &Workload::cancel_rate, "share that the client leaves");
  time_flag(command, "--cancel-delay", kLoad, &Workload::cancel_delay, "when it does, at least");
  time_flag(command, "--cancel-delay-most", kLoad, &Workload::cancel_delay_most, "and at most");
  time_flag(command, "--timeout", kLoad, &Workload::timeout, "a client's patience; 0: endless");
  flag(command, "--goodput", kLoad, &Workload::goodput, "e.g. \"ttft:500 tpot:50\", ms");
}

void SimulateOptions::add_cluster(cli::Command& command) {
  constexpr auto kShape = &Scenario::cluster;
  flag(command, "--nodes", kShape, &ClusterShape::nodes, "nodes; the first has the gateway");
  flag(command, "--ranks", kShape, &ClusterShape::ranks, "simulated GPUs a node");
  flag(command, "--blocks", kShape, &ClusterShape::blocks, "KV blocks (128 tokens) a GPU");
  flag(command, "--max-num-seqs", kShape, &ClusterShape::max_num_seqs, "rows a GPU runs at once");
  flag(command, "--max-num-batched-tokens", kShape, &ClusterShape::max_num_batched_tokens,
       "tokens of one step");
  flag(command, "--async-steps", kShape, &ClusterShape::async_steps,
       "two steps in flight on a GPU");
  time_flag(command, "--request-timeout", kShape, &ClusterShape::request_timeout,
            "the server's deadline of a request");
}

Status SimulateOptions::take_config(SimulateSettings& settings) const {
  config::Inputs inputs;
  TROUPE_TRY_ASSIGN(auto file, read_config_file(config_file_));
  inputs.files.push_back(std::move(file));
  TROUPE_TRY_ASSIGN(const auto loaded, config::load_node_config(inputs));
  const config::NodeConfig& node = loaded.config;
  ClusterShape& shape = settings.scenario.cluster;
  shape.ranks = static_cast<std::uint32_t>(node.engine.ranks);
  shape.max_num_seqs = static_cast<std::uint32_t>(node.engine.max_num_seqs);
  shape.max_num_batched_tokens = static_cast<std::uint32_t>(node.engine.max_num_batched_tokens);
  if (node.engine.kv_blocks > 0) {
    shape.blocks = static_cast<std::uint32_t>(node.engine.kv_blocks);
  }
  shape.async_steps = node.engine.async;
  shape.rank_queue_max = static_cast<std::uint32_t>(node.gateway.max_queue);
  shape.request_timeout = node.gateway.request_timeout;
  const config::SimulatedSection& gpu = node.simulated;
  settings.prefill.a = gpu.prefill_base.seconds();
  settings.prefill.b = gpu.prefill_per_token.seconds();
  settings.prefill.g = gpu.prefill_context_cost;
  settings.decode.t0 = gpu.decode_base.seconds();
  settings.decode.k = gpu.decode_context.seconds();
  settings.decode.p1 = gpu.decode_per_token.seconds();
  settings.decode.p2 = gpu.decode_per_token_beyond_knee.seconds();
  settings.decode.n1 = static_cast<double>(gpu.decode_knee);
  settings.cost_source = config_file_ + " (the rest: docs/simulation.md, Costs)";
  return ok_status();
}

Result<SimulateSettings> SimulateOptions::load() const {
  SimulateSettings settings;
  if (!scenario_file_.empty()) {
    TROUPE_TRY_ASSIGN(settings.scenario, load_scenario(scenario_file_, wire_message_names()));
  }
  if (!config_file_.empty()) TROUPE_TRY(take_config(settings));
  for (const auto& copy : copies_) copy(settings.scenario);
  Scenario& scenario = settings.scenario;
  if (scenario_file_.empty() || seed_option_->given()) scenario.seed = seed_;
  scenario.explore_ties = scenario.explore_ties || explore_;
  Workload& load = scenario.workload;
  // As `troupe traffic` does.
  if (load.concurrency == 0 && load.request_rate == 0) load.concurrency = 1;
  if (load.num_requests == 0 && load.duration == Duration()) load.num_requests = 100;
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
  return command;
}

}  // namespace troupe
