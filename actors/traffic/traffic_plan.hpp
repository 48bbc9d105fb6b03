// How a load is applied and judged: the data behind the flags of `troupe traffic`.
//
// Closed loop: `concurrency` users, of whom each has one request under way or thinks before the
// next turn of its session. Open loop: requests start at a rate, by phases or at a trace's times,
// whether or not earlier ones have ended; latency counts from the intended start. Both: an open
// loop in which at most `concurrency` run; the others wait, and their waiting counts.
//
// What the requests are is LoadPlan's; the same seed gives the same ones, whatever the server does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "actors/load/load_plan.hpp"

namespace troupe {

/// Service level objectives; a request is good if it is ok and keeps all that are given.
struct Slo {
  std::optional<Duration> ttft;
  std::optional<Duration> tpot;
  std::optional<Duration> e2el;

  bool given() const { return ttft || tpot || e2el; }
  /// "ttft:500 tpot:50"
  std::string text() const;
};

/// "ttft:500 tpot:50 e2el:10000", milliseconds; the syntax of `vllm bench serve --goodput`.
Result<Slo> parse_slo(std::string_view text);

struct TrafficPlan : LoadPlan {
  std::uint32_t concurrency = 0;                ///< under way at once; 0: no bound (needs times)
  std::uint64_t num_requests = 0;               ///< measured ones; 0: no bound (needs another end)
  Duration duration;                            ///< no request starts later; 0: no bound
  std::uint32_t warmup = 0;                     ///< requests before the measured ones
  Duration timeout;                             ///< a client's patience; 0: endless
  Duration slow_reader_starts = seconds(3600);  ///< they take nothing until then, and then all
  Slo slo;
};

/// What makes a plan impossible, for the user.
Status check_plan(const TrafficPlan& plan);

}  // namespace troupe
