// Values on a grid, and between its points: the numbers of a timing table.
//
// Between points: linear along every axis. Below the first point of an axis: its value (a step of
// few tokens costs what the smallest measured one does). Above the last: along an axis that
// extends, on along the line of the last cell, which the caller must flag; else the last point's
// value.
//
// Source of the rule: TIMING.md section 6. Threads: immutable after building.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "runtime/base/assert.hpp"

namespace troupe {

/// Where a value lies on an axis.
struct AxisPlace {
  std::size_t low = 0;  ///< the cell is [low, low + 1]
  double weight = 0;    ///< of its upper end; above 1 only beyond an axis that extends
  bool above = false;   ///< the value is greater than the last point
};

/// Requires: `points` ascending, at least two.
AxisPlace place_on(const std::vector<double>& points, double value, bool extends);

template <std::size_t kAxes>
class TimingGrid {
 public:
  TimingGrid() = default;
  /// `values`: the last axis runs fastest.
  TimingGrid(std::array<std::size_t, kAxes> sizes, std::vector<float> values)
      : sizes_(sizes), values_(std::move(values)) {
    std::size_t count = 1;
    for (const std::size_t size : sizes) count *= size;
    TROUPE_ASSERT(values_.size() == count, "a grid has a value at each point");
  }

  double at(const std::array<AxisPlace, kAxes>& places) const {
    double sum = 0;
    for (std::size_t corner = 0; corner < (std::size_t{1} << kAxes); ++corner) {
      double weight = 1;
      std::size_t index = 0;
      for (std::size_t axis = 0; axis < kAxes; ++axis) {
        const bool upper = ((corner >> axis) & 1) != 0;
        weight *= upper ? places[axis].weight : 1 - places[axis].weight;
        index = index * sizes_[axis] + places[axis].low + (upper ? 1 : 0);
      }
      if (weight != 0) sum += weight * static_cast<double>(values_[index]);
    }
    return sum;
  }

 private:
  std::array<std::size_t, kAxes> sizes_{};
  std::vector<float> values_;
};

}  // namespace troupe
