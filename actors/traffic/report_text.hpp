// The report as people know it.
//
// `vllm_block`: the text of `vllm bench serve` (DEFAULTS.md section 4), with the percentiles, the
// outcomes apart, achieved against asked rate and the generator's lag. `aiperf_table`: AIPerf's
// rows and columns. Both take extra lines, which the simulation fills.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "actors/traffic/traffic_report.hpp"

namespace troupe {

using ReportLines = std::vector<std::pair<std::string, std::string>>;

std::string vllm_block(const TrafficReport& report, const ReportLines& extra = {});
std::string aiperf_table(const TrafficReport& report, const ReportLines& extra = {});

}  // namespace troupe
