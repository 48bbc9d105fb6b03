// A run as a trace that Perfetto's viewer opens: a track for each of the requests that were under
// way at the same time, with their phases, counters over time, and faults.
//
// Format: JSON of Chrome's trace events ("X" complete events, "C" counters, "i" instants), times in
// microseconds.
// A request takes the lowest track that is free when it begins, so that tracks are as many as
// requests were under way at once.
#pragma once

#include <string>
#include <vector>

#include "runtime/simulation/fault_marks.hpp"
#include "tools/simulate/request_timelines.hpp"
#include "tools/simulate/run_series.hpp"

namespace troupe {

/// `marks`: nullptr without faults.
std::string perfetto_trace(const std::vector<RequestTimeline>& requests, const RunSeries& series,
                           const FaultMarks* marks);

}  // namespace troupe
