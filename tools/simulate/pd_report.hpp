// What the report of a cluster's run says beside the traffic's table: pools, links, hits,
// constants.
#pragma once

#include "actors/traffic/report_text.hpp"
#include "tools/simulate/pd_cluster.hpp"

namespace troupe {

/// "16 prefill engines of 4, 1 decode instance of 64: 128 GPUs".
std::string shape_text(const ClusterPlan& plan);

ReportLines pd_lines(PdCluster& cluster);

}  // namespace troupe
