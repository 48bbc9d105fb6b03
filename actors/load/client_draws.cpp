#include "actors/load/client_draws.hpp"

namespace troupe {

ClientDraws::ClientDraws(const LoadPlan& plan)
    : burstiness_(plan.burstiness),
      cancel_rate_(plan.cancel_rate),
      delay_(plan.cancel_delay),
      delay_most_(plan.cancel_delay_most),
      slow_readers_(plan.slow_readers),
      curve_(plan.curve()),
      gaps_(mix64(plan.seed, 1)),
      cancels_(mix64(plan.seed, 3)),
      readers_(mix64(plan.seed, 4)) {}

std::optional<Duration> ClientDraws::next_arrival() {
  const auto at = curve_.advance(last_, draw_gap(gaps_, burstiness_));
  if (at) last_ = *at;
  return at;
}

Duration ClientDraws::cancel_delay(Rng& rng) const {
  const Duration spread = delay_most_ - delay_;
  if (spread.value <= 0) return delay_;
  return delay_ + Duration(static_cast<std::int64_t>(
                      rng.below(static_cast<std::uint64_t>(spread.value) + 1)));
}

void ClientDraws::behave(PlannedRequest& request) {
  if (cancel_rate_ > 0 && cancels_.chance(cancel_rate_)) {
    request.cancel_after = cancel_delay(cancels_);
  }
  request.slow_reader = slow_readers_ > 0 && readers_.chance(slow_readers_);
}

void ClientDraws::behave(PlannedRequest& request, Rng& rng) const {
  request.cancel_after.reset();
  if (cancel_rate_ > 0 && rng.chance(cancel_rate_)) request.cancel_after = cancel_delay(rng);
  request.slow_reader = slow_readers_ > 0 && rng.chance(slow_readers_);
}

}  // namespace troupe
