#include "tools/plan/pool_search.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

/// A pool that is too small grows by this, one that may be too large shrinks by it.
constexpr double kGrowth = 1.15;
constexpr double kShrink = 1.08;
/// Answers within the objectives, as a share (and of the rate), that a growth must bring; two that
/// do not: it is not GPUs that are missing (prompts that take longer than the objective on any
/// number of them).
constexpr double kWorthIt = 0.005;

bool above(const std::optional<Duration>& objective, double found_ms) {
  return objective && found_ms > objective->milliseconds();
}

/// At least one engine or instance's GPU away from where it was.
double more(double gpus, double least) {
  return std::max(gpus * kGrowth, gpus + least);
}
double fewer(double gpus, double least) {
  return std::min(gpus / kShrink, gpus - least);
}

class Walker {
 public:
  explicit Walker(const PoolSearch& search) : search_(search) {}

  std::vector<PoolTrial> walk(PoolLayout start) {
    PoolLayout layout = start;
    while (room() && !try_out(layout) && trials_.back().outcome.problem.empty() && helps()) {
      layout = grown(trials_.back());
    }
    if (trials_.back().holds) {
      // What one pool does not need the other one may.
      const PoolLayout after = shrink(trials_.back().layout, true);
      shrink(after, false);
    }
    return std::move(trials_);
  }

 private:
  bool room() const { return trials_.size() < search_.trials_most; }

  /// Whether growth did something lately.
  bool helps() const {
    if (trials_.size() < 3) return true;
    return merit(trials_.back()) - merit(trials_[trials_.size() - 3]) >= kWorthIt;
  }
  double merit(const PoolTrial& trial) const {
    const PlanOutcome& found = trial.outcome;
    if (search_.answers_least <= 0) return found.good_share;
    const double kept_up = found.sustained_requests_per_s / search_.answers_least;
    return found.good_share + std::min(1.0, kept_up);
  }

  bool try_out(const PoolLayout& layout) {
    PoolTrial& trial = trials_.emplace_back();
    trial.layout = layout;
    trial.outcome = search_.run(layout);
    trial.holds = trial.outcome.problem.empty() && trial.outcome.good_share >= kWithinSlo &&
                  trial.outcome.error_share <= 1 - kWithinSlo &&
                  trial.outcome.sustained_requests_per_s >= search_.answers_least;
    return trial.holds;
  }

  PoolLayout make(double prefill, double decode) const {
    return layout_of(prefill, decode, search_.instance_most);
  }

  PoolLayout grown(const PoolTrial& trial) const {
    const PoolLayout& layout = trial.layout;
    const bool first = above(search_.slo.ttft, trial.outcome.ttft_p95_ms);
    const bool rest = above(search_.slo.tpot, trial.outcome.tpot_p95_ms);
    const bool both = first == rest;  // or neither alone: both together break the share
    const double prefill = layout.prefill_gpus(), decode = layout.decode_gpus();
    return make(first || both ? more(prefill, PoolLayout::kEngineGpus) : prefill,
                rest || both ? more(decode, layout.instances) : decode);
  }

  /// The smallest of this pool that still holds, the other one as it is.
  PoolLayout shrink(PoolLayout layout, bool prefill) {
    while (room()) {
      const PoolLayout next =
          prefill
              ? make(fewer(layout.prefill_gpus(), PoolLayout::kEngineGpus), layout.decode_gpus())
              : make(layout.prefill_gpus(), fewer(layout.decode_gpus(), layout.instances));
      const bool known = next.gpus() >= layout.gpus() ||
                         std::any_of(trials_.begin(), trials_.end(),
                                     [&](const PoolTrial& trial) { return trial.layout == next; });
      if (known || !try_out(next)) return layout;
      layout = next;
    }
    return layout;
  }

  const PoolSearch& search_;
  std::vector<PoolTrial> trials_;
};

}  // namespace

PoolLayout layout_of(double prefill_gpus, double decode_gpus, std::uint32_t instance_most) {
  auto up = [](double value) { return static_cast<std::uint32_t>(std::ceil(value - 1e-9)); };
  PoolLayout layout;
  layout.engines = std::max(1u, up(prefill_gpus / PoolLayout::kEngineGpus));
  const std::uint32_t decode = std::max(PoolLayout::kInstanceLeast, up(decode_gpus));
  layout.instances = (decode + instance_most - 1) / instance_most;
  layout.ranks =
      std::max(PoolLayout::kInstanceLeast, (decode + layout.instances - 1) / layout.instances);
  return layout;
}

std::vector<PoolTrial> PoolSearch::from(PoolLayout start) const {
  return Walker(*this).walk(start);
}

std::optional<std::size_t> fewest_that_hold(const std::vector<PoolTrial>& trials) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i].holds) continue;
    if (!best || trials[i].layout.gpus() < trials[*best].layout.gpus()) best = i;
  }
  return best;
}

}  // namespace troupe
