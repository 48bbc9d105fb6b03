// What the simulation tests share: small scenarios, a run, and its verdict.
#pragma once

#include <gtest/gtest.h>

#include <map>

#include "tools/simulate/verdict.hpp"

namespace troupe {

using Tokens = std::map<RequestId, std::vector<TokenId>>;

/// An open loop of 50 requests a second on one rank: about 40 of them under way at a time.
inline Scenario open_loop(std::uint64_t requests) {
  Scenario scenario;
  scenario.seed = 11;
  scenario.workload.request_rate = 50;
  scenario.workload.num_requests = requests;
  scenario.workload.isl = 1000;
  scenario.workload.osl = 40;
  scenario.workload.osl_spread = 20;
  return scenario;
}

inline std::unique_ptr<SimulatedCluster> assemble(const Scenario& scenario,
                                                  SimulatedCluster::Options options = {}) {
  auto cluster = SimulatedCluster::make(scenario, std::move(options));
  if (!cluster.ok()) throw std::runtime_error(cluster.error().message);
  return std::move(*cluster);
}

/// Collects the tokens that ranks send, by request.
inline SimulatedCluster::Options collecting(Tokens& tokens) {
  SimulatedCluster::Options options;
  options.observer = [&tokens](Time, const Envelope& envelope) {
    const auto* batch = envelope.message.as<TokenBatch>();
    if (batch == nullptr) return;
    for (const RowTokens& row : batch->rows) {
      auto& all = tokens[row.request];
      all.insert(all.end(), row.tokens.begin(), row.tokens.end());
    }
  };
  return options;
}

inline void expect_clean(SimulatedCluster& cluster) {
  for (const auto& line : broken_rules(cluster)) {
    ADD_FAILURE() << line << "  (seed " << cluster.scenario().seed << ")";
  }
}

/// Runs to the end and expects what every run must keep.
inline std::unique_ptr<SimulatedCluster> run_clean(const Scenario& scenario,
                                                   SimulatedCluster::Options options = {}) {
  auto cluster = assemble(scenario, std::move(options));
  const Status status = cluster->run();
  EXPECT_TRUE(status.ok()) << status.error().message;
  expect_clean(*cluster);
  return cluster;
}

}  // namespace troupe
