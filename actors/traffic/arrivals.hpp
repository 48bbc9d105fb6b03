// When requests start and how long they are: seeded draws, the same on every machine.
#pragma once

#include "actors/traffic/traffic_plan.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

/// Normal with mean 0 and deviation 1.
double draw_normal(Rng& rng);
/// Gamma with this shape and mean 1: gaps between arrivals. Shape 1 is exponential.
double draw_gap(Rng& rng, double shape);
/// A length with this mean and deviation, at least 1.
std::uint32_t draw_length(Rng& rng, std::uint32_t mean, double deviation);
/// Uniform from mean - spread, but at least 1, to mean + spread.
std::uint32_t draw_within(Rng& rng, std::uint32_t mean, std::uint32_t spread);

/// What one request is going to be, before it starts.
struct Draw {
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::optional<Duration> cancel_after;
  bool slow_reader = false;
};

/// The endless sequence of draws of a plan. Kinds of draws do not disturb each other: a plan with
/// cancels has the same lengths and arrivals as one without.
class Arrivals {
 public:
  explicit Arrivals(const TrafficPlan& plan);
  Duration next_gap();
  Draw next_draw();

 private:
  TrafficPlan plan_;
  Rng gaps_;
  Rng lengths_;
  Rng cancels_;
  Rng readers_;
};

}  // namespace troupe
