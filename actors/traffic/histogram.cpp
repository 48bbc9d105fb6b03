#include "actors/traffic/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace troupe {

namespace {

// A double's upper bits are its exponent and the leading bits of its mantissa: shifted right they
// number the buckets.
constexpr int kMantissaBits = 7;
constexpr int kShift = 52 - kMantissaBits;
constexpr double kLeast = 0x1.0p-40;
constexpr double kMost = 0x1.0p60;
constexpr std::uint64_t kFirst = std::bit_cast<std::uint64_t>(kLeast) >> kShift;

}  // namespace

std::size_t Histogram::bucket(double value) {
  if (!(value > kLeast)) return 0;
  return 1 + (std::bit_cast<std::uint64_t>(std::min(value, kMost)) >> kShift) - kFirst;
}

double Histogram::middle(std::size_t bucket) {
  if (bucket == 0) return 0;
  const double low = std::bit_cast<double>((bucket - 1 + kFirst) << kShift);
  const double high = std::bit_cast<double>((bucket + kFirst) << kShift);
  return (low + high) / 2;
}

void Histogram::record(double value) {
  const std::size_t index = bucket(value);
  if (index >= buckets_.size()) buckets_.resize(index + 1);
  ++buckets_[index];
  least_ = count_ == 0 ? value : std::min(least_, value);
  greatest_ = count_ == 0 ? value : std::max(greatest_, value);
  ++count_;
  sum_ += value;
  squares_ += value * value;
}

double Histogram::mean() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

double Histogram::deviation() const {
  if (count_ == 0) return 0;
  const double average = mean();
  return std::sqrt(std::max(0.0, squares_ / static_cast<double>(count_) - average * average));
}

double Histogram::percentile(double percent) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(percent / 100 * static_cast<double>(count_));
  const auto rank = static_cast<std::uint64_t>(std::max(1.0, wanted));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= rank) return std::clamp(middle(i), least_, greatest_);
  }
  return greatest_;
}

}  // namespace troupe
