// How many requests are in the system, and for how long: both sides of Little's law.
//
// L = lambda W holds for every finished run, whatever the system does: the number in the system,
// added up over time, is the sum of the times that each spent there. So a run where the two differ
// has lost a request, counted one twice, or mixed up its times.
//
// Sums are in nanoseconds and exact: modulo 2^64, which changes nothing about their being equal.
// Not thread-safe.
#pragma once

#include <cstdint>

#include "runtime/base/time.hpp"

namespace troupe {

class Occupancy {
 public:
  void enters(Time now) {
    pass(now);
    ++inside_;
  }
  void leaves(Time entered, Time now) {
    pass(now);
    --inside_;
    const std::int64_t spent = (now - entered).value;
    spent_ += static_cast<std::uint64_t>(spent);
    spent_seconds_ += (now - entered).seconds();
    ++left_;
  }

  std::int64_t inside() const { return inside_; }
  /// Nobody is inside, and Little's law holds.
  bool balanced() const { return inside_ == 0 && area_ == spent_; }
  /// Mean number inside from the first coming to the last going; 0: nobody came.
  double mean_inside() const {
    const double span = (last_ - first_).seconds();
    return span > 0 ? area_seconds_ / span : 0;
  }
  /// Mean time inside, seconds.
  double mean_time() const { return left_ == 0 ? 0 : spent_seconds_ / static_cast<double>(left_); }
  /// Those who left, a second of the same span.
  double rate() const {
    const double span = (last_ - first_).seconds();
    return span > 0 ? static_cast<double>(left_) / span : 0;
  }

 private:
  void pass(Time now) {
    if (!begun_) first_ = last_ = now;
    begun_ = true;
    area_ += static_cast<std::uint64_t>((now - last_).value) * static_cast<std::uint64_t>(inside_);
    area_seconds_ += (now - last_).seconds() * static_cast<double>(inside_);
    last_ = now;
  }

  bool begun_ = false;
  Time first_;
  Time last_;
  std::int64_t inside_ = 0;
  std::uint64_t area_ = 0;   ///< requests times nanoseconds
  std::uint64_t spent_ = 0;  ///< nanoseconds
  double area_seconds_ = 0;
  double spent_seconds_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace troupe
