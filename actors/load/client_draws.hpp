// What clients do beside asking: when they arrive, leave, or read slowly. Seeded draws.
//
// Kinds of draws do not disturb each other: a plan with cancels has the same arrivals as one
// without. Used by both sources of requests.
#pragma once

#include "actors/load/load_plan.hpp"
#include "actors/load/request_source.hpp"

namespace troupe {

class ClientDraws {
 public:
  explicit ClientDraws(const LoadPlan& plan);

  /// When the next one arrives, since the load began; nothing: the phases are over. Requires: the
  /// plan has a rate.
  std::optional<Duration> next_arrival();
  /// Whether and when this request's client leaves, and how it reads.
  void behave(PlannedRequest& request);
  /// The same for a later turn, from draws of its own.
  void behave(PlannedRequest& request, Rng& rng) const;

 private:
  Duration cancel_delay(Rng& rng) const;

  double burstiness_;
  double cancel_rate_;
  Duration delay_;
  Duration delay_most_;
  double slow_readers_;
  RateCurve curve_;
  Duration last_;
  Rng gaps_;
  Rng cancels_;
  Rng readers_;
};

}  // namespace troupe
