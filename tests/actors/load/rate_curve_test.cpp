#include "actors/load/rate_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "actors/load/client_draws.hpp"

namespace troupe {
namespace {

RatePhase phase(const std::string& text) {
  auto parsed = parse_phase(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.error().message;
  return *parsed;
}

/// Sums the rate in small steps: what the closed forms must invert.
double expected_until(const RateCurve& curve, Duration end) {
  constexpr int kSteps = 200'000;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    sum += curve.rate(from_seconds(end.seconds() * (i + 0.5) / kSteps)) * end.seconds() / kSteps;
  }
  return sum;
}

TEST(RateCurve, AdvanceInvertsTheIntegralOfTheRate) {
  const RateCurve curve({phase("10:5"), phase("20:5..50"), phase("10:0"),
                         phase("20:50..2:exponential"), phase("100:day:20:0.8:40")});
  EXPECT_EQ(curve.length(), seconds(160));
  for (const double arrivals : {1.0, 49.0, 51.0, 300.0, 599.0, 601.0, 700.0, 1000.0, 2500.0}) {
    const auto at = curve.advance(Duration(), arrivals);
    ASSERT_TRUE(at) << arrivals;
    EXPECT_NEAR(expected_until(curve, *at), arrivals, 0.02 + arrivals * 1e-4);
    // In two steps, too.
    const auto half = curve.advance(Duration(), arrivals / 2);
    EXPECT_NEAR(curve.advance(*half, arrivals / 2)->seconds(), at->seconds(), 1e-6) << arrivals;
  }
  EXPECT_FALSE(curve.advance(Duration(), 1e6));
  EXPECT_FALSE(curve.advance(seconds(160), 0.1));
}

TEST(RateCurve, ADayIsLowestAtItsBegin) {
  const RateCurve curve({phase("86400:day:20:0.6:86400")});
  EXPECT_NEAR(curve.rate(Duration()), 8, 1e-9);
  EXPECT_NEAR(curve.rate(seconds(43200)), 32, 1e-9);
}

TEST(RateCurve, BurstsKeepTheirShapeOnARamp) {
  // Index of dispersion of counts a second, on a ramp: about 1 / burstiness for long windows.
  for (const double burstiness : {1.0, 0.1}) {
    LoadPlan plan;
    plan.phases = {phase("1000:20..180")};
    plan.burstiness = burstiness;
    ClientDraws draws(plan);
    std::vector<double> counts(100);
    double total = 0;
    while (const auto at = draws.next_arrival()) {
      ++counts[static_cast<std::size_t>(at->seconds() / 10)];
      ++total;
    }
    EXPECT_NEAR(total, 100'000, burstiness == 1 ? 1'000 : 3'000);
    double dispersion = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double expected = 10 * (20 + 0.16 * (10 * static_cast<double>(i) + 5));
      dispersion += (counts[i] - expected) * (counts[i] - expected) / expected / 100;
    }
    EXPECT_NEAR(dispersion, 1 / burstiness, 0.5 / burstiness) << burstiness;
  }
}

TEST(RateCurve, NonsenseIsRefused) {
  for (const char* text :
       {"", "5", "0:5", "-1:5", "60:", "60:x", "60:5..", "60:5..50:cubic", "60:-5", "60:5..-1",
        "60:0..5:exponential", "60:day:20", "60:day:20:2:60", "60:day:20:0.5:0", "60:5x",
        "60:day:20:0.5:60:1", "1e12:5"}) {
    EXPECT_FALSE(parse_phase(text).ok()) << text;
  }
}

}  // namespace
}  // namespace troupe
