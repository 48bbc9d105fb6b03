// The report as people know it.
//
// `vllm_block`: the text of `vllm bench serve` (DEFAULTS.md section 4), with the percentiles, the
// outcomes apart, achieved against asked rate and the generator's lag. `aiperf_table`: AIPerf's
// rows and columns. Both take extra lines, which the simulation fills; long ones are wrapped.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "actors/traffic/traffic_report.hpp"

namespace troupe {

/// A fact that the caller adds: for people under its title, for programs under its key.
struct ReportLine {
  std::string title;  ///< "Virtual duration (s)"; empty: not in tables
  std::string key;    ///< "virtual_duration_s"; empty: not in JSON
  /// The entries of a list are numbered in tables.
  std::variant<std::string, std::uint64_t, double, std::vector<std::string>> value;
  int decimals = 2;  ///< of a fraction, in tables
};
using ReportLines = std::vector<ReportLine>;

std::string vllm_block(const TrafficReport& report, const ReportLines& extra = {});
std::string aiperf_table(const TrafficReport& report, const ReportLines& extra = {});

}  // namespace troupe
