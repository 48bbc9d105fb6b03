// Watches a run of a cluster with prefill and decode apart for its report (run_recorder.hpp).
//
// Use: make one, give `watch` to the cluster's options, run it.
#pragma once

#include "tools/simulate/pd_cluster.hpp"
#include "tools/simulate/run_recorder.hpp"

namespace troupe {

class PdRecorder : public RunRecorder {
 public:
  /// `encoders`: the cluster has some.
  explicit PdRecorder(RequestTimelines::Limits limits, bool encoders = false);

  /// Makes a cluster that is going to be made call this.
  void watch(PdCluster::Options& options);

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
  Totals before_;
};

}  // namespace troupe
