#include "tools/plan/simulated_answer.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/simulation/formatted.hpp"

namespace troupe {

namespace {

constexpr const char* kAsked = "as the closed form was asked";
/// CALIB.md: 384 routed experts and one redundant a GPU; EP8 takes 3.177 ms more than EP64.
constexpr double kExperts = 384;
double experts_a_gpu(double ranks) {
  return kExperts / ranks + 1;
}
/// To find what a cluster takes, so many seconds of requests are kept under way beside those that
/// fill its decode GPUs: in prefill, on the way, and some that wait.
constexpr double kWaitingSeconds = 0.6;
/// A run's requests: so many seconds of them, within bounds that keep it at some seconds of ours.
struct RunLength {
  double seconds;
  double most;
};
/// Of 3,000 a second a pool that lacks 3 % shows that, and one that lacks nothing 0.5 %.
constexpr RunLength kSearchRun{60, 200'000};
/// Long enough for a middle that neither start nor end reach.
constexpr RunLength kCapacityRun{20, 200'000};
constexpr double kRequestsLeast = 2'000;

const char* drafts_of(Drafts policy) {
  switch (policy) {
    case Drafts::kNone:
      return "off";
    case Drafts::kFixed:
      return "fixed";
    case Drafts::kBest:
      break;
  }
  return "confidence";
}

bool shares_by_itself(const TrafficPlan& load) {
  return !load.trace.file.empty() || !load.turns.is_always(1) || load.prefix_groups > 0;
}

/// The load at its own times, or, where it has none, at the rate that the plan was asked for; as
/// much of it as a run may have.
TrafficPlan rated_load(const SimulatedQuestion& question) {
  TrafficPlan load = question.load;
  double most = kSearchRun.most;
  if (load.phases.empty() && load.trace.file.empty()) {
    load.request_rate = question.plan.load.rate;
    load.concurrency = 0;
    most = std::clamp(load.request_rate * kSearchRun.seconds, kRequestsLeast, kSearchRun.most);
  }
  if (!question.requests_given || static_cast<double>(load.num_requests) > most) {
    load.num_requests = static_cast<std::uint64_t>(most);
  }
  return load;
}

/// What pools answer that keep up with a rate: all but what a start holds back, and chance.
double answers_least(const TrafficPlan& load) {
  constexpr double kStart = 0.02;
  constexpr double kDeviations = 3;
  if (load.request_rate <= 0) return 0;
  const double middle = static_cast<double>(load.num_requests) / 2;
  const double deviation = std::sqrt(1 / load.burstiness / middle);
  return load.request_rate * std::max(0.0, 1 - kStart - kDeviations * deviation);
}

/// As many requests under way as these pools have room for, whatever the load's own times: users
/// who ask again at once. A trace that is played by users has none.
TrafficPlan filling_load(const SimulatedQuestion& question, const PlanSize& size,
                         const PoolLayout& layout) {
  TrafficPlan load = question.load;
  load.request_rate = 0;
  load.phases.clear();
  load.num_requests = 0;
  load.concurrency = static_cast<std::uint32_t>(layout.decode_gpus() * size.batch +
                                                size.capacity * kWaitingSeconds);
  load.duration = from_seconds(
      std::min(kCapacityRun.seconds, kCapacityRun.most / std::max(1.0, size.capacity)));
  return load;
}

Status check(const SimulatedQuestion& question) {
  const PlanQuestion& plan = question.plan;
  if (question.hit_given && shares_by_itself(question.load)) {
    return Error{Code::kInvalid,
                 "--hit says what a cache has of all prompts, --simulate finds what these share; "
                 "leave --hit out"};
  }
  if (plan.prefill_rate > 0 || plan.decode_rate > 0) {
    return Error{Code::kInvalid,
                 "--simulate takes the model's rates; leave --prefill-rate and --decode-rate out"};
  }
  if (plan.gpus > 0 && !question.load.trace.file.empty()) {
    return Error{Code::kInvalid,
                 "--gpus with --simulate asks what they take, of which a trace with times of its "
                 "own says nothing; give lengths (--isl, --osl, --hit), or leave --gpus out"};
  }
  if (plan.gpus > 0) return ok_status();
  if (plan.load.rate <= 0) {
    return Error{Code::kInvalid, "--simulate needs a rate: --request-rate, phases or a trace"};
  }
  if (!plan.slo.given()) {
    return Error{Code::kInvalid,
                 "--simulate needs the objectives to keep, as --goodput \"ttft:450 tpot:5\""};
  }
  return ok_status();
}

SimulatedAnswer capacity_of(const SimulatedQuestion& question, const PlanSize& size) {
  const PlanQuestion& plan = question.plan;
  const std::uint32_t most = plan.model.ep8 ? 8 : PoolLayout::kInstanceMost;
  const double prefill = plan.prefill_gpus > 0 ? plan.prefill_gpus : size.best_prefill_gpus;
  // Whole engines first: what they do not take is for decode.
  const double engines = std::max(1.0, std::round(prefill / PoolLayout::kEngineGpus));
  const PoolLayout layout = layout_of(engines * PoolLayout::kEngineGpus,
                                      plan.gpus - engines * PoolLayout::kEngineGpus, most);
  SimulatedAnswer answer;
  answer.plan = cluster_of(question, size, layout);
  answer.load = filling_load(question, size, layout);
  const PlanOutcome outcome = run_plan({answer.plan, answer.load});
  answer.trials.push_back({layout, outcome, false});  // no objective was to be kept
  if (outcome.problem.empty()) answer.best = 0;
  answer.sentence = formatted(
      "%u prefill and %u decode GPUs sustain %.0f requests/s; prefill is busy for %.0f %%, decode "
      "for %.0f %%",
      layout.prefill_gpus(), layout.decode_gpus(), outcome.sustained_requests_per_s,
      outcome.prefill_busy * 100, outcome.decode_busy * 100);
  return answer;
}

std::string plural(std::uint32_t count, const char* what) {
  return formatted("%u %s%s", count, what, count == 1 ? "" : "s");
}

std::string layout_text(const PoolLayout& layout) {
  return plural(layout.engines, "prefill engine") +
         formatted(" of %u GPUs (EP%u/DP%u), ", PoolLayout::kEngineGpus, PoolLayout::kEngineGpus,
                   PoolLayout::kEngineGpus) +
         plural(layout.instances, "decode instance") +
         formatted(" of %u (EP%u/DP%u)", layout.ranks, layout.ranks, layout.ranks);
}

std::string found_text(const PoolTrial& best, const std::string& objectives) {
  const PoolLayout& layout = best.layout;
  std::string text = formatted(
      "%u prefill and %u decode GPUs (%u in all) keep %s for %.1f %% of %.1f requests/s\n"
      "Layout: %s\n",
      layout.prefill_gpus(), layout.decode_gpus(), layout.gpus(), objectives.c_str(),
      best.outcome.good_share * 100, best.outcome.sustained_requests_per_s,
      layout_text(layout).c_str());
  if (layout == PoolLayout()) {
    text += "Note: the smallest layout that is tried; the load may need less\n";
  }
  return text + "Note: one run a layout; --seed draws others";
}

std::string failure_text(const std::vector<PoolTrial>& trials, const PoolSearch& search) {
  const PoolTrial& last = trials.back();
  const PlanOutcome& found = last.outcome;
  const auto of = formatted("none of %zu plans ", trials.size());
  if (found.error_share > 1 - kWithinSlo) {
    return of +
           formatted(
               "answers the load; of %u GPUs %.1f %% of the requests get no answer, "
               "most often: ",
               last.layout.gpus(), found.error_share * 100) +
           found.complaint;
  }
  if (found.good_share >= kWithinSlo) {
    return of + formatted("keeps up; %u GPUs answer %.1f requests/s, at least %.1f are expected",
                          last.layout.gpus(), found.sustained_requests_per_s, search.answers_least);
  }
  return of +
         formatted(
             "keeps %s for %.0f %% of the answers; %u GPUs keep it for %.1f %% (p95: TTFT %.0f "
             "ms, TPOT %.2f ms), and more GPUs do not help",
             search.slo.text().c_str(), kWithinSlo * 100, last.layout.gpus(),
             found.good_share * 100, found.ttft_p95_ms, found.tpot_p95_ms);
}

}  // namespace

ClusterPlan cluster_of(const SimulatedQuestion& question, const PlanSize& size,
                       const PoolLayout& layout) {
  const PlanQuestion& asked = question.plan;
  ClusterPlan plan;
  plan.name = "troupe plan";
  plan.seed = question.load.seed;
  plan.prefill.engines = layout.engines;
  plan.prefill.ranks = PoolLayout::kEngineGpus;
  plan.prefill.step_budget = from_seconds(prefill_step(asked.model, size.chunk));
  // One engine in 16 a second, as in the plans of config/.
  plan.prefill.moves_a_round = std::max(1u, layout.engines / 16);
  plan.decode.instances = layout.instances;
  plan.decode.ranks = layout.ranks;
  plan.decode.rows_most = static_cast<std::uint32_t>(size.batch);
  plan.decode.drafts = drafts_of(asked.model.policy);
  const double extra = asked.model.ep8_extra *
                       (experts_a_gpu(layout.ranks) - experts_a_gpu(PoolLayout::kInstanceMost)) /
                       (experts_a_gpu(8) - experts_a_gpu(PoolLayout::kInstanceMost));
  plan.set_constant("decode_extra_ms", std::max(0.0, extra) * 1e3,
                    "between EP64 and EP8 (CALIB.md), by experts a GPU");
  plan.set_constant("prefill_efficiency", question.efficiency, kAsked);
  plan.set_constant("decode_efficiency", question.efficiency, kAsked);
  plan.workload.isl = static_cast<std::uint32_t>(std::max(1.0, asked.load.prompt));
  plan.prefix.cached_share = asked.load.hit;
  return plan;
}

Result<SimulatedAnswer> answer_by_simulation(const SimulatedQuestion& question,
                                             const PlanSize& size) {
  TROUPE_TRY(check(question));
  if (question.plan.gpus > 0) return capacity_of(question, size);
  const TrafficPlan load = rated_load(question);
  PoolSearch search;
  search.slo = question.plan.slo;
  search.instance_most = question.plan.model.ep8 ? 8 : PoolLayout::kInstanceMost;
  search.run = [&](const PoolLayout& layout) {
    return run_plan({cluster_of(question, size, layout), load});
  };
  search.answers_least = answers_least(load);
  SimulatedAnswer answer;
  answer.trials = search.from(layout_of(size.prefill_gpus, size.decode_gpus, search.instance_most));
  answer.best = fewest_that_hold(answer.trials);
  answer.load = load;
  const PoolTrial& shown = answer.best ? answer.trials[*answer.best] : answer.trials.back();
  answer.plan = cluster_of(question, size, shown.layout);
  const std::string& problem = answer.trials.back().outcome.problem;
  if (!answer.best && !problem.empty()) {
    return Error{Code::kInternal, "a simulated run failed: " + problem};
  }
  answer.sentence = answer.best ? found_text(answer.trials[*answer.best], search.slo.text())
                                : failure_text(answer.trials, search);
  return answer;
}

std::string trials_text(const SimulatedAnswer& answer) {
  std::string out = formatted("\n%12s %12s %9s %9s %9s %9s %9s %8s %8s %8s\n", "prefill GPUs",
                              "decode GPUs", "TTFT p50", "TTFT p95", "TPOT p50", "TPOT p95",
                              "sustained", "in SLO", "prefill", "decode");
  for (std::size_t i = 0; i < answer.trials.size(); ++i) {
    const PoolTrial& trial = answer.trials[i];
    const PlanOutcome& found = trial.outcome;
    out +=
        formatted("%12u %12u %9.1f %9.1f %9.2f %9.2f %9.1f %7.1f%% %7.0f%% %7.0f%%%s\n",
                  trial.layout.prefill_gpus(), trial.layout.decode_gpus(), found.ttft_p50_ms,
                  found.ttft_p95_ms, found.tpot_p50_ms, found.tpot_p95_ms,
                  found.sustained_requests_per_s, found.good_share * 100, found.prefill_busy * 100,
                  found.decode_busy * 100, trial.holds && answer.best == i ? " *" : "");
  }
  return out + "Simulated: " + answer.sentence + "\n";
}

}  // namespace troupe
