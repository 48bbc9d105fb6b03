// How the rate of arrivals changes: constant stretches, ramps and day curves, one after another.
//
// As text, a phase each (seconds and requests a second):
//   60:5                    5 a second for a minute
//   60:5..50                a linear ramp
//   60:5..50:exponential    a ramp that grows by the same factor in equal times
//   86400:day:20:0.6:86400  a day: the mean 20 swings by the share 0.6 in 86,400 s, lowest at the
//                           phase's begin, highest half a period later
//
// Arrivals with any rate come from those of rate 1 by stretching time: `advance` says when that
// many expected arrivals have passed. So bursts (gamma gaps) keep their shape on a ramp, and the
// inverse is exact, not stepwise. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

struct RatePhase {
  enum class Shape : std::uint8_t { kConstant, kLinear, kExponential, kDay };
  Duration length;  ///< 0: without end (a constant rate)
  Shape shape = Shape::kConstant;
  double from = 0;   ///< requests a second; of a day its mean
  double to = 0;     ///< ramps
  double swing = 0;  ///< days: share of the mean, 0 … 1
  Duration period;   ///< days
};

Result<RatePhase> parse_phase(std::string_view text);

class RateCurve {
 public:
  explicit RateCurve(std::vector<RatePhase> phases) : phases_(std::move(phases)) {}

  /// The time at which `arrivals` more than until `at` are expected; nothing: the curve ends
  /// before.
  std::optional<Duration> advance(Duration at, double arrivals) const;
  /// Requests a second at a time; 0 behind the end.
  double rate(Duration at) const;
  /// Of all phases; 0: without end.
  Duration length() const;

 private:
  std::vector<RatePhase> phases_;
};

}  // namespace troupe
