// Collects what a run did not keep, as lines for people.
//
// Invariant: at most kLinesMost lines are kept; the first ones say it all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/traffic/traffic_report.hpp"
#include "runtime/simulation/expectations.hpp"

namespace troupe {

class Judge {
 public:
  static constexpr std::size_t kLinesMost = 20;

  void say(std::string line) {
    if (lines_.size() < kLinesMost) lines_.push_back(std::move(line));
  }
  void equal(const std::string& what, std::uint64_t found, std::uint64_t expected) {
    if (found == expected) return;
    say(what + ": " + std::to_string(found) + ", expected " + std::to_string(expected));
  }
  template <class Number>
  void at_least(const char* what, double found, const std::optional<Number>& least) {
    if (!least || found >= static_cast<double>(*least)) return;
    say(std::string(what) + ": " + std::to_string(found) + ", expected at least " +
        std::to_string(*least));
  }
  template <class Number>
  void at_most(const char* what, double found, const std::optional<Number>& most) {
    if (!most || found <= static_cast<double>(*most)) return;
    say(std::string(what) + ": " + std::to_string(found) + ", expected at most " +
        std::to_string(*most));
  }
  /// What a report alone can tell.
  void traffic(const TrafficReport& report, const Expectations& expect) {
    const auto count = [&](Outcome one) { return static_cast<double>(report.count(one)); };
    const double failed = count(Outcome::kFailed) + count(Outcome::kNoToken);
    at_least("ok", count(Outcome::kOk), expect.ok_min);
    at_least("failed", failed, expect.failed_min);
    at_most("failed", failed, expect.failed_max);
    at_least("cancelled", count(Outcome::kCancelled), expect.cancelled_min);
    at_least("timed out", count(Outcome::kTimedOut), expect.timed_out_min);
    at_least("TTFT P99 (ms)", report.ttft.percentile(99) * 1e3, expect.ttft_p99_ms_min);
    at_most("TTFT P99 (ms)", report.ttft.percentile(99) * 1e3, expect.ttft_p99_ms_max);
    at_least("TPOT P99 (ms)", report.tpot.percentile(99) * 1e3, expect.tpot_p99_ms_min);
    at_most("virtual duration (s)", report.duration().seconds(), expect.virtual_seconds_max);
  }
  /// Every finished run keeps Little's law.
  void little(const Occupancy& occupancy) {
    if (occupancy.balanced()) return;
    say("Little's law: " + std::to_string(occupancy.mean_inside()) + " requests in the system, " +
        std::to_string(occupancy.rate()) + " a second for " +
        std::to_string(occupancy.mean_time()) + " s each, " + std::to_string(occupancy.inside()) +
        " inside at the end");
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

}  // namespace troupe
