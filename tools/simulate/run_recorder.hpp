// Watches a cluster's run for its report: curves over time, and timelines of requests.
//
// What the recorders of all kinds of clusters share (pd_recorder.hpp, engine_recorder.hpp). Curves
// are rates and shares of the time since the last sample. A step that is under way at a sample
// counts as far as it has come, so that no share of time is above 1, but after a freeze: a step
// that ended in it is heard of at the thaw.
//
// Threads: one. A recorder outlives the run.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/pd/group_use.hpp"
#include "tools/simulate/request_timelines.hpp"
#include "tools/simulate/run_series.hpp"

namespace troupe {

class RunRecorder {
 public:
  static constexpr Duration kSampleEvery = seconds(1);

  RunRecorder(RequestTimelines::Limits limits, ServedBy served_by)
      : timelines_(limits, served_by) {}

  const RunSeries& series() const { return series_; }
  const RequestTimelines& timelines() const { return timelines_; }

 protected:
  /// NaN of nothing.
  static double share(double part, double whole);
  /// A group that was lost took its sums with it: no growth then.
  static double growth(double now, double before);
  /// Of GPU seconds: busy, and of that waiting for the slowest of a group.
  static double busy(const GroupUse& now, const GroupUse& before, double gpu_seconds);
  static double waited(const GroupUse& now, const GroupUse& before, double gpu_seconds);
  /// p50 and p99 in ms of requests that got their first token since the last sample.
  std::vector<double> take_first_tokens();

  RunSeries series_;
  RequestTimelines timelines_;
};

}  // namespace troupe
