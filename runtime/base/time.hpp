// Time as cores see it: nanoseconds of a clock that somebody else reads.
//
// `Time` is a point, `Duration` a span; both are signed 64-bit nanoseconds. In simulation the clock
// is virtual and starts at 0; live it is the monotonic clock of the process. Cores get `now` in
// their Context and never read a clock. Between nodes only durations travel.
#pragma once

#include <cstdint>

#include "runtime/base/strong.hpp"

namespace troupe {

struct Duration : Amount<Duration, std::int64_t> {
  using Amount::Amount;
  constexpr double seconds() const { return static_cast<double>(value) * 1e-9; }
  constexpr double milliseconds() const { return static_cast<double>(value) * 1e-6; }
  friend constexpr Duration operator*(Duration d, std::int64_t n) { return Duration(d.value * n); }
  friend constexpr Duration operator/(Duration d, std::int64_t n) { return Duration(d.value / n); }
};

struct Time : Strong<Time, std::int64_t> {
  using Strong::Strong;
  friend constexpr Time operator+(Time t, Duration d) { return Time(t.value + d.value); }
  friend constexpr Time operator-(Time t, Duration d) { return Time(t.value - d.value); }
  friend constexpr Duration operator-(Time a, Time b) { return Duration(a.value - b.value); }
  constexpr double seconds() const { return static_cast<double>(value) * 1e-9; }
};

constexpr Duration nanoseconds(std::int64_t n) {
  return Duration(n);
}
constexpr Duration microseconds(std::int64_t n) {
  return Duration(n * 1'000);
}
constexpr Duration milliseconds(std::int64_t n) {
  return Duration(n * 1'000'000);
}
constexpr Duration seconds(std::int64_t n) {
  return Duration(n * 1'000'000'000);
}
/// Rounds to the nearest nanosecond. What is longer than 292 years is 292 years, and so is what is
/// no number.
constexpr Duration from_seconds(double s) {
  constexpr double kMost = 9.2e18;
  const double nanoseconds = s * 1e9 + (s < 0 ? -0.5 : 0.5);
  if (nanoseconds <= -kMost) return Duration(-static_cast<std::int64_t>(kMost));
  return Duration(static_cast<std::int64_t>(nanoseconds < kMost ? nanoseconds : kMost));
}

}  // namespace troupe
