#include "actors/load/rate_curve.hpp"

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>

namespace troupe {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;

double growth(const RatePhase& phase) {
  return std::log(phase.to / phase.from) / phase.length.seconds();
}

double rate_in(const RatePhase& phase, double x) {
  switch (phase.shape) {
    case RatePhase::Shape::kConstant:
      return phase.from;
    case RatePhase::Shape::kLinear:
      return phase.from + (phase.to - phase.from) * x / phase.length.seconds();
    case RatePhase::Shape::kExponential:
      return phase.from * std::exp(growth(phase) * x);
    case RatePhase::Shape::kDay:
      return phase.from * (1 - phase.swing * std::cos(kTurn * x / phase.period.seconds()));
  }
  return 0;
}

/// Expected arrivals of a day curve from its begin to x.
double day_integral(const RatePhase& phase, double x) {
  const double period = phase.period.seconds();
  return phase.from * (x - phase.swing * period / kTurn * std::sin(kTurn * x / period));
}

/// Expected arrivals from x to the phase's end.
double left_in(const RatePhase& phase, double x) {
  const double end = phase.length.seconds();
  switch (phase.shape) {
    case RatePhase::Shape::kConstant:
      return phase.from * (end - x);
    case RatePhase::Shape::kLinear:
      return (rate_in(phase, x) + phase.to) / 2 * (end - x);
    case RatePhase::Shape::kExponential:
      return (phase.to - rate_in(phase, x)) / growth(phase);
    case RatePhase::Shape::kDay:
      return day_integral(phase, end) - day_integral(phase, x);
  }
  return 0;
}

/// How long from x until `arrivals` are expected. Requires: at most left_in(phase, x).
double wait_in(const RatePhase& phase, double x, double arrivals) {
  const double now = rate_in(phase, x);
  switch (phase.shape) {
    case RatePhase::Shape::kConstant:
      return arrivals / phase.from;
    case RatePhase::Shape::kLinear: {
      const double slope = (phase.to - phase.from) / phase.length.seconds();
      return 2 * arrivals / (now + std::sqrt(std::max(0.0, now * now + 2 * slope * arrivals)));
    }
    case RatePhase::Shape::kExponential:
      return std::log1p(growth(phase) * arrivals / now) / growth(phase);
    case RatePhase::Shape::kDay:
      break;
  }
  // The integral grows with time, so that halving finds its inverse; 64 halvings are below 1 ns.
  double low = 0, high = phase.length.seconds() - x;
  const double wanted = day_integral(phase, x) + arrivals;
  for (int i = 0; i < 64; ++i) {
    const double middle = (low + high) / 2;
    (day_integral(phase, x + middle) < wanted ? low : high) = middle;
  }
  return high;
}

Error no_phase(std::string_view text, const std::string& why) {
  return Error{Code::kInvalid, "'" + std::string(text) + "' is no phase: " + why};
}

bool take_number(std::string_view& text, double& value) {
  const std::string copy(text);
  char* end = nullptr;
  value = std::strtod(copy.c_str(), &end);
  // "5..50": the number must not swallow the first of the two points.
  auto used = static_cast<std::size_t>(end - copy.c_str());
  if (used > 0 && copy[used - 1] == '.' && copy.size() > used && copy[used] == '.') --used;
  text.remove_prefix(used);
  return used > 0 && std::isfinite(value);
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// Behind "SECONDS:day:".
bool take_day(std::string_view& rest, RatePhase& phase) {
  double period = 0;
  phase.shape = RatePhase::Shape::kDay;
  if (!take_number(rest, phase.from) || !take(rest, ":")) return false;
  if (!take_number(rest, phase.swing) || !take(rest, ":")) return false;
  if (!take_number(rest, period) || period <= 0 || period > 1e8) return false;
  phase.period = from_seconds(period);
  return phase.swing >= 0 && phase.swing <= 1 && rest.empty();
}

/// Behind "SECONDS:".
bool take_rates(std::string_view& rest, RatePhase& phase) {
  if (!take_number(rest, phase.from)) return false;
  phase.to = phase.from;
  if (!take(rest, "..")) return rest.empty();
  phase.shape = RatePhase::Shape::kLinear;
  if (!take_number(rest, phase.to)) return false;
  if (take(rest, ":exponential")) phase.shape = RatePhase::Shape::kExponential;
  return rest.empty();
}

}  // namespace

Result<RatePhase> parse_phase(std::string_view text) {
  RatePhase phase;
  std::string_view rest = text;
  double length = 0;
  if (!take_number(rest, length) || !take(rest, ":") || !(length > 0) || length > 1e8) {
    return no_phase(text, "write SECONDS:RATE or SECONDS:FROM..TO");
  }
  phase.length = from_seconds(length);
  const bool day = take(rest, "day:");
  if (day ? !take_day(rest, phase) : !take_rates(rest, phase)) {
    return no_phase(text,
                    "write SECONDS:RATE, SECONDS:FROM..TO, SECONDS:FROM..TO:exponential or "
                    "SECONDS:day:MEAN:SWING:PERIOD (swing from 0 to 1)");
  }
  if (phase.from < 0 || phase.to < 0 || phase.from > 1e9 || phase.to > 1e9) {
    return no_phase(text, "rates are from 0 to 1e9");
  }
  // A ramp between equal rates is none, and its formulas would divide by 0.
  if (!day && phase.to == phase.from) phase.shape = RatePhase::Shape::kConstant;
  if (phase.shape == RatePhase::Shape::kExponential && (phase.from == 0 || phase.to == 0)) {
    return no_phase(text, "an exponential ramp has rates above 0");
  }
  return phase;
}

std::optional<Duration> RateCurve::advance(Duration at, double arrivals) const {
  if (arrivals <= 0) return at;
  Duration begun;
  for (const RatePhase& phase : phases_) {
    const Duration inside = at - begun;
    if (phase.length.value == 0) return at + from_seconds(arrivals / phase.from);
    if (inside < phase.length) {
      const double left = left_in(phase, inside.seconds());
      if (arrivals <= left) {
        return at + from_seconds(wait_in(phase, inside.seconds(), arrivals));
      }
      arrivals -= std::max(0.0, left);
      at = begun + phase.length;
    }
    begun += phase.length;
  }
  return std::nullopt;
}

double RateCurve::rate(Duration at) const {
  Duration begun;
  for (const RatePhase& phase : phases_) {
    const Duration inside = at - begun;
    if (phase.length.value == 0 || inside < phase.length) return rate_in(phase, inside.seconds());
    begun += phase.length;
  }
  return 0;
}

Duration RateCurve::length() const {
  Duration sum;
  for (const RatePhase& phase : phases_) sum += phase.length;
  return sum;
}

}  // namespace troupe
