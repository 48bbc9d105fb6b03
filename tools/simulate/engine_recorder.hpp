// Watches a run of engines that prefill and decode for its report (run_recorder.hpp).
//
// Use: make one, give `watch` to the cluster's options, run it.
#pragma once

#include "tools/simulate/engine_cluster.hpp"
#include "tools/simulate/run_recorder.hpp"

namespace troupe {

class EngineRecorder : public RunRecorder {
 public:
  explicit EngineRecorder(RequestTimelines::Limits limits);

  /// Makes a cluster that is going to be made call this.
  void watch(EngineCluster::Options& options);

 private:
  void sample(EngineCluster& cluster);

  Time at_;
  GroupUse use_;
  EngineCluster::Held held_;
};

}  // namespace troupe
