#include "runtime/base/monotonic.hpp"

#include <chrono>

namespace troupe {

Time monotonic_now() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return Time(std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count());
}

}  // namespace troupe
