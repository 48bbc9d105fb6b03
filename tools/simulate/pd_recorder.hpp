// Watches a cluster's run for its report: curves over time, and timelines of requests.
//
// Use: make one, give `watch` to the cluster's options, run it. Curves are rates and shares of the
// time since the last sample.
//
// Threads: one. The recorder outlives the run.
#pragma once

#include <vector>

#include "tools/simulate/pd_cluster.hpp"
#include "tools/simulate/request_timelines.hpp"
#include "tools/simulate/run_series.hpp"

namespace troupe {

class PdRecorder {
 public:
  /// Several steps of a prefill engine, which count when they end.
  static constexpr Duration kSampleEvery = seconds(1);

  /// `encoders`: the cluster has some.
  explicit PdRecorder(RequestTimelines::Limits limits, bool encoders = false);

  /// Makes a cluster that is going to be made call this.
  void watch(PdCluster::Options& options);

  const RunSeries& series() const { return series_; }
  const RequestTimelines& timelines() const { return timelines_; }

 private:
  /// What grows during a run; a sample shows its growth.
  struct Totals {
    Time at;
    GroupUse prefill;
    GroupUse decode;
    GroupUse encoders;
    std::uint64_t asked = 0;
    std::uint64_t hit = 0;
    double spine = 0;
    double reads = 0;
    double writes = 0;
  };

  static Totals totals(PdCluster& cluster);
  void sample(PdCluster& cluster);

  void add_image_values(PdCluster& cluster, const Totals& now, double span,
                        std::vector<std::vector<double>>& values) const;

  const bool encoders_;
  RunSeries series_;
  RequestTimelines timelines_;
  Totals before_;
};

}  // namespace troupe
