// The restart rule of a parent: back-off that grows with crashes and forgives with time.
//
// Pure: the parent core asks `delay_after_crash(now)` and sets a Timer. Delays double from `first`
// to `most`; a child that lived for `forgive_after` starts over at `first`. `give_up_after` crashes
// in a row the rule says so, and the parent decides what that means (usually: to end itself).
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/base/time.hpp"

namespace troupe {

struct RestartRule {
  Duration first = milliseconds(100);
  Duration most = seconds(10);
  Duration forgive_after = seconds(60);
  std::uint32_t give_up_after = 0;  ///< 0: never
};

class Supervisor {
 public:
  explicit Supervisor(RestartRule rule = {}) : rule_(rule) {}

  void started(Time now) { started_at_ = now; }
  /// When to start the next life, or nothing: give up.
  std::optional<Duration> delay_after_crash(Time now);

 private:
  RestartRule rule_;
  Time started_at_;
  std::uint32_t crashes_ = 0;
};

}  // namespace troupe
