#include "tools/simulate/plan_outcome.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "tools/simulate/engine_cluster.hpp"

namespace troupe {

namespace {

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

void take_traffic(const TrafficReport& report, PlanOutcome& outcome) {
  const double span = report.duration().seconds();
  const auto ok = static_cast<double>(report.count(Outcome::kOk));
  outcome.requests_per_s = ratio(ok, span);
  outcome.tokens_per_s_per_gpu =
      ratio(static_cast<double>(report.output_tokens()), span * outcome.gpus);
  outcome.user_tokens_per_s = report.user_rate.percentile(50);
  outcome.ttft_p50_ms = report.ttft.percentile(50) * 1e3;
  outcome.ttft_p95_ms = report.ttft.percentile(95) * 1e3;
  outcome.ttft_p99_ms = report.ttft.percentile(99) * 1e3;
  outcome.ttft_p99_short_ms = report.ttft_by_length[0].percentile(99) * 1e3;
  outcome.tpot_p50_ms = report.tpot.percentile(50) * 1e3;
  outcome.tpot_p95_ms = report.tpot.percentile(95) * 1e3;
  outcome.tpot_p99_ms = report.tpot.percentile(99) * 1e3;
  outcome.error_share = report.error_share();
  if (outcome.error_share > 0) outcome.complaint = report.commonest_error();
  if (report.plan().slo.given()) outcome.good_share = ratio(static_cast<double>(report.good()), ok);
}

double busy(const GroupUse& use, double span) {
  return ratio(use.busy, use.members * span);
}

std::uint32_t gpus_of(PdCluster& cluster) {
  return cluster.plan().gpus();
}
/// The formula is that of one GPU; a table says how many make an engine.
std::uint32_t gpus_of(EngineCluster& cluster) {
  const TimingTable* table = cluster.table();
  return cluster.plan().engines * (table == nullptr ? 1 : table->decode_layout().gpus);
}

void take_pools(PdCluster& cluster, PlanOutcome& outcome) {
  const double span = cluster.used_seconds();
  outcome.prefill_busy = busy(cluster.prefill_use(), span);
  outcome.decode_busy = busy(cluster.decode_use(), span);
  outcome.decode_imbalance = cluster.decode_use().imbalance();
  outcome.hit_share =
      ratio(static_cast<double>(cluster.tokens_hit()), static_cast<double>(cluster.tokens_asked()));
}

void take_pools(EngineCluster& cluster, PlanOutcome& outcome) {
  outcome.prefill_busy = outcome.decode_busy = busy(cluster.use(), cluster.used_seconds());
  const EngineCluster::Held held = cluster.held();
  outcome.hit_share = ratio(held.tokens_hit, held.tokens_asked);
}

template <class Cluster>
void take(Cluster& cluster, PlanOutcome& outcome) {
  const Status status = cluster.run();
  const TrafficReport& report = cluster.traffic().report();
  if (report.broken()) {
    outcome.problem = report.broken()->message;
  } else if (!status.ok()) {
    outcome.problem = status.error().message;
  } else if (const auto broken = cluster.broken_rules(); !broken.empty()) {
    outcome.problem = broken.front();
  }
  outcome.gpus = gpus_of(cluster);
  take_traffic(report, outcome);
  take_pools(cluster, outcome);
  outcome.sustained_requests_per_s = cluster.answer_rate().middle();
}

template <class Cluster, class Plan>
void make_and_take(const Plan& plan, const std::optional<TrafficPlan>& load, PlanOutcome& outcome) {
  typename Cluster::Options options;
  options.trace_hash = false;
  options.load = load;
  auto made = Cluster::make(plan, std::move(options));
  if (made.ok()) return take(**made, outcome);
  outcome.problem = made.error().message;
}

void run_any(const ClusterPlan& plan, const std::optional<TrafficPlan>& load,
             PlanOutcome& outcome) {
  outcome.gpus = plan.gpus();
  make_and_take<PdCluster>(plan, load, outcome);
}

void run_any(const EnginePlan& plan, const std::optional<TrafficPlan>& load, PlanOutcome& outcome) {
  outcome.gpus = plan.engines;
  make_and_take<EngineCluster>(plan, load, outcome);
}

}  // namespace

std::vector<PlanFigure> PlanOutcome::figures() const {
  return {{"GPUs", "gpus", 0, static_cast<double>(gpus)},
          {"Requests/s", "requests_per_s", 1, requests_per_s},
          {"Sustained", "sustained_requests_per_s", 1, sustained_requests_per_s},
          {"Output tokens/s a GPU", "tokens_per_s_per_gpu", 0, tokens_per_s_per_gpu},
          {"User tokens/s (p50)", "user_tokens_per_s", 1, user_tokens_per_s},
          {"TTFT p50 (ms)", "ttft_p50_ms", 1, ttft_p50_ms},
          {"p95", "ttft_p95_ms", 1, ttft_p95_ms},
          {"TTFT p99 (ms)", "ttft_p99_ms", 1, ttft_p99_ms},
          {"of <16K", "ttft_p99_short_ms", 1, ttft_p99_short_ms},
          {"TPOT p50 (ms)", "tpot_p50_ms", 2, tpot_p50_ms},
          {"TPOT p99 (ms)", "tpot_p99_ms", 2, tpot_p99_ms},
          {"Within SLO", "good_share", 3, good_share},
          {"Errors", "error_share", 4, error_share},
          {"Prefill busy", "prefill_utilisation", 3, prefill_busy},
          {"Decode busy", "decode_utilisation", 3, decode_busy},
          {"Slowest/mean", "decode_imbalance", 3, decode_imbalance},
          {"Prompt tokens hit", "hit_share", 3, hit_share}};
}

PlanOutcome run_plan(const PlanRun& run) {
  return std::visit(
      [&](const auto& plan) {
        PlanOutcome outcome;
        run_any(plan, run.load, outcome);
        return outcome;
      },
      run.plan);
}

std::vector<PlanOutcome> run_plans(const std::vector<PlanRun>& runs, unsigned threads,
                                   const std::function<void(std::size_t ended)>& done) {
  std::vector<PlanOutcome> outcomes(runs.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t ended = 0;
  auto work = [&] {
    for (std::size_t i = next++; i < runs.size(); i = next++) {
      try {
        outcomes[i] = run_plan(runs[i]);
      } catch (const std::exception& failure) {
        // A fault of ours in one plan: the others' figures are still worth having.
        outcomes[i].problem = failure.what();
      }
      const std::lock_guard lock(mutex);
      done(++ended);
    }
  };
  std::vector<std::thread> workers;
  const auto count = std::min<std::size_t>(std::max(1u, threads), runs.size());
  for (std::size_t i = 0; i < count; ++i) workers.emplace_back(work);
  for (auto& worker : workers) worker.join();
  return outcomes;
}

}  // namespace troupe
