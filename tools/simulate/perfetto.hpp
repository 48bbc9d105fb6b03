// A run as a trace that Perfetto's viewer opens: a track for each of the requests that were under
// way at the same time, with their phases, and counters over time.
//
// Format: JSON of Chrome's trace events ("X" complete events, "C" counters), times in microseconds.
// A request takes the lowest track that is free when it begins, so that tracks are as many as
// requests were under way at once.
#pragma once

#include <string>
#include <vector>

#include "tools/simulate/request_timelines.hpp"
#include "tools/simulate/run_series.hpp"

namespace troupe {

std::string perfetto_trace(const std::vector<RequestTimeline>& requests, const RunSeries& series);

}  // namespace troupe
