// A histogram with logarithmic buckets: bounded memory, relative error below 1 %.
//
// A bucket is an octave's 128th part, so that its middle is within 0.4 % of every value in it.
// Count, sum, least, greatest and standard deviation are exact. Units: the caller's (seconds,
// tokens). Values at or below 2^-40 count as zero; above 2^60 as 2^60.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe {

class Histogram {
 public:
  void record(double value);

  std::uint64_t count() const { return count_; }
  double sum() const { return sum_; }
  // All of the following are 0 while nothing was recorded.
  double mean() const;
  double deviation() const;
  double least() const { return least_; }
  double greatest() const { return greatest_; }
  /// The smallest value that at least `percent` % of all are not above, within 1 %.
  double percentile(double percent) const;

 private:
  static std::size_t bucket(double value);
  static double middle(std::size_t bucket);

  std::vector<std::uint64_t> buckets_;  ///< as long as the greatest bucket needs
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
  double least_ = 0;
  double greatest_ = 0;
};

}  // namespace troupe
