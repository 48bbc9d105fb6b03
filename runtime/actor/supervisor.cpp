#include "runtime/actor/supervisor.hpp"

#include <algorithm>

namespace troupe {

std::optional<Duration> Supervisor::delay_after_crash(Time now) {
  if (now - started_at_ >= rule_.forgive_after) crashes_ = 0;
  ++crashes_;
  if (rule_.give_up_after != 0 && crashes_ > rule_.give_up_after) return std::nullopt;
  const std::uint32_t doublings = std::min(crashes_ - 1, 30u);
  return std::min(Duration(rule_.first.value << doublings), rule_.most);
}

}  // namespace troupe
