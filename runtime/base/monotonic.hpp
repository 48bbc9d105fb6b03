// The monotonic clock of the process: what `now` means on a live node. For hosts only: cores and
// simulations get their time with each message (tests/tidy holds them to it).
#pragma once

#include "runtime/base/time.hpp"

namespace troupe {

Time monotonic_now();

}  // namespace troupe
