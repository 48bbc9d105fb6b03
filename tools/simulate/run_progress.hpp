// How far a run is: one line on a terminal, overwritten, with the time that is left.
//
// What is left follows from the share of requests that have ended, or of the load's duration that
// has passed, and from the wall time so far. Threads: one.
#pragma once

#include <chrono>
#include <string>

#include "tools/simulate/driven_run.hpp"

namespace troupe {

/// "  12.0 s virtual, 1234 of 22000 requests, 5 %, 3.1x, about 40 s left"; `wall` in seconds.
std::string progress_text(DrivenRun& run, double wall);

class RunProgress {
 public:
  explicit RunProgress(bool shown) : shown_(shown) {}
  ~RunProgress() { clear(); }

  /// Writes the line, a few times a second at most.
  void show(DrivenRun& run);
  /// Takes it away: something else is to be written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool there_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_{};
};

}  // namespace troupe
