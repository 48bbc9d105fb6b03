#include "runtime/simulation/timing_grid.hpp"

#include <algorithm>

namespace troupe {

AxisPlace place_on(const std::vector<double>& points, double value, bool extends) {
  TROUPE_ASSERT(points.size() >= 2, "an axis has a cell");
  const auto next = std::upper_bound(points.begin(), points.end(), value);
  const std::size_t cells = points.size() - 1;
  AxisPlace place;
  place.low = next == points.begin()
                  ? 0
                  : std::min(static_cast<std::size_t>(next - points.begin()) - 1, cells - 1);
  place.above = value > points.back();
  const double low = points[place.low], high = points[place.low + 1];
  place.weight = std::max((value - low) / (high - low), 0.0);
  if (!extends) place.weight = std::min(place.weight, 1.0);
  return place;
}

}  // namespace troupe
