#include "runtime/base/nearest.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {
constexpr std::size_t kLongestName = 128;
using Row = std::array<std::size_t, kLongestName + 1>;
}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongestName);
  b = b.substr(0, kLongestName);
  Row before_previous{};
  Row previous{};
  Row row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_previous = previous;
    previous = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_previous[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::size_t typo_distance(std::string_view name) {
  if (name.size() <= 4) return 1;
  return name.size() <= 10 ? 2 : 3;
}

std::optional<std::string> nearest(std::string_view name,
                                   const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t least = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (best && distance >= least) continue;
    best = candidate;
    least = distance;
  }
  return best;
}

}  // namespace troupe
