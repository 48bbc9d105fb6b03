#include "actors/traffic/arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace troupe {

double draw_normal(Rng& rng) {
  // Box and Muller: one of the two values is enough here.
  const double radius = std::sqrt(-2 * std::log(1.0 - rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

double draw_gap(Rng& rng, double shape) {
  if (shape == 1) return rng.exponential(1);
  // Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); shapes below 1
  // are drawn one higher and scaled by a power of a uniform.
  const double boost = shape < 1 ? std::pow(1.0 - rng.uniform(), 1 / shape) : 1;
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = draw_normal(rng);
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(1.0 - rng.uniform()) < x * x / 2 + d - d * v + d * std::log(v)) {
      return d * v * boost / shape;
    }
  }
}

std::uint32_t draw_length(Rng& rng, std::uint32_t mean, double deviation) {
  if (deviation == 0) return std::max(1u, mean);
  const double drawn = std::round(mean + deviation * draw_normal(rng));
  return static_cast<std::uint32_t>(std::clamp(drawn, 1.0, 1e9));
}

std::uint32_t draw_within(Rng& rng, std::uint32_t mean, std::uint32_t spread) {
  const std::uint32_t low = mean > spread ? mean - spread : 1;
  return low + static_cast<std::uint32_t>(rng.below(std::uint64_t{mean} + spread - low + 1));
}

Arrivals::Arrivals(const TrafficPlan& plan)
    : plan_(plan),
      gaps_(mix64(plan.seed, 1)),
      lengths_(mix64(plan.seed, 2)),
      cancels_(mix64(plan.seed, 3)),
      readers_(mix64(plan.seed, 4)) {}

Duration Arrivals::next_gap() {
  return from_seconds(draw_gap(gaps_, plan_.burstiness) / plan_.request_rate);
}

Draw Arrivals::next_draw() {
  Draw draw;
  draw.prompt_tokens = draw_length(lengths_, plan_.isl, plan_.isl_stddev);
  draw.output_tokens = plan_.osl_spread > 0 ? draw_within(lengths_, plan_.osl, plan_.osl_spread)
                                            : draw_length(lengths_, plan_.osl, plan_.osl_stddev);
  if (plan_.cancel_rate > 0 && cancels_.chance(plan_.cancel_rate)) {
    const Duration spread = plan_.cancel_delay_most - plan_.cancel_delay;
    const std::int64_t more =
        spread.value <= 0 ? 0
                          : static_cast<std::int64_t>(
                                cancels_.below(static_cast<std::uint64_t>(spread.value) + 1));
    draw.cancel_after = plan_.cancel_delay + Duration(more);
  }
  draw.slow_reader = plan_.slow_readers > 0 && readers_.chance(plan_.slow_readers);
  return draw;
}

}  // namespace troupe
