#include "tools/plan/plan_file.hpp"

#include "runtime/simulation/formatted.hpp"

namespace troupe {

std::string plan_file(const ClusterPlan& plan, const TrafficPlan& load, const std::string& words) {
  std::string text = "# By troupe plan. Run it with: troupe simulate --config THIS" + words + "\n";
  text += "name: " + plan.name + "\n";
  text += formatted("seed: %llu\n", static_cast<unsigned long long>(plan.seed));
  text += formatted("prefill: {engines: %u, ranks: %u, step_budget_ms: %.17g, moves_a_round: %u}\n",
                    plan.prefill.engines, plan.prefill.ranks,
                    plan.prefill.step_budget.milliseconds(), plan.prefill.moves_a_round);
  text += formatted("decode: {instances: %u, ranks: %u, rows_most: %u, drafts: \"%s\"}\n",
                    plan.decode.instances, plan.decode.ranks, plan.decode.rows_most,
                    plan.decode.drafts.c_str());
  text += "constants:\n";
  for (const char* name : {"decode_extra_ms", "prefill_efficiency", "decode_efficiency"}) {
    text += formatted("  %s: %.17g\n", name, plan.constant(name));
  }
  text += formatted("workload:\n  isl: %u\n  cached_share: %.17g\n", plan.workload.isl,
                    plan.prefix.cached_share);
  if (load.request_rate > 0) {
    text += formatted("  request_rate: %.17g\n  num_requests: %llu\n", load.request_rate,
                      static_cast<unsigned long long>(load.num_requests));
  }
  return text;
}

}  // namespace troupe
