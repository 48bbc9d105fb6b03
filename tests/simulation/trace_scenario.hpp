// The world of the equal-hash test: gateway → rank over three nodes, with everything that can go
// wrong in it. One seed, one scenario; the same for every driver, process and build.
#pragma once

#include <string>
#include <vector>

#include "tools/simulate/assembly.hpp"

namespace troupe {

inline constexpr std::uint64_t kTraceSeeds = 10;  ///< seeds 1 … 10

Scenario trace_scenario(std::uint64_t seed);

/// What a run gave: its hash, and proof that each kind of fault was reached.
struct TraceResult {
  std::uint64_t hash = 0;
  std::uint64_t events = 0;
  std::uint64_t requests = 0;
  std::uint64_t ok = 0;
  std::uint64_t kills = 0;
  std::uint64_t cancels = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t deadlines = 0;
  std::uint64_t drops = 0;
  std::uint64_t preemptions = 0;
  std::vector<std::string> broken_rules;  ///< of the simulated cluster, at its end
  friend bool operator==(const TraceResult&, const TraceResult&) = default;
};

std::string to_string(const TraceResult& result);

/// Requires: the run ends (it is a test's scenario).
TraceResult run_trace(std::uint64_t seed, const MakeWorld& make_world);

}  // namespace troupe
