// The report for programs: one JSON object.
#pragma once

#include <string>

#include "actors/traffic/report_text.hpp"

namespace troupe {

/// Latencies in milliseconds: {"mean","std","min","max","p50","p90","p99","p99.9","count"}.
/// `extra` becomes the object "simulation", by key, if it is not empty.
std::string report_json(const TrafficReport& report, const ReportLines& extra = {});

}  // namespace troupe
