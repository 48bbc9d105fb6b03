// The figures of `tools/bench simulate`: each function measures some of them.
//
// Virtual worlds run on one core; times are the thread's own CPU time. Traces are JSON lines,
// unpacked (tools/benches/simulate.py does that); without one its figures are left out.
#pragma once

#include <string>
#include <vector>

#include "runtime/simulation/cluster_plan.hpp"
#include "tests/bench/figure.hpp"

namespace troupe::bench {

struct TraceLine {
  double at = 0;  ///< seconds from the trace's beginning
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::vector<std::uint64_t> blocks;  ///< of 512 tokens; empty if the trace has none
};

/// Ends the program with a message if the file cannot be read.
std::vector<TraceLine> read_trace(const std::string& file);

/// realtime_512, rss_512_mb, decode_efficiency: config/sim-512.yaml's plan at 4,400 requests/s.
std::vector<Figure> world_figures(bool quick);
/// growth_4096: 64, 512 and 4,096 GPUs at the same load a GPU.
Figure growth_figure(bool quick);
/// router_p95_vs_best, router_imbalance: the conversation trace at 8 engines.
std::vector<Figure> router_figures(const std::string& file);
/// decode_spread: lengths of the agentic trace on 256 GPUs, KV as 40 % of a step.
Figure spread_figure(const std::vector<TraceLine>& trace, bool quick);
/// chunk_budget_p95: a hidden curve that drifts, and steps that are filled to a budget.
Figure budget_figure();

}  // namespace troupe::bench
