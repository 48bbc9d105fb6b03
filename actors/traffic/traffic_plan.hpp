// What load to make: the data behind the flags of `troupe traffic` and `troupe simulate`.
//
// Closed loop: `concurrency` requests are under way at any time. Open loop: requests start at
// `request_rate` whether or not earlier ones have ended; latency counts from the intended start.
// Both: an open loop in which at most `concurrency` run; the others wait, and their waiting counts.
//
// The same seed gives the same arrivals, lengths and cancels, whatever the server does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"
#include "runtime/base/time.hpp"

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

struct TrafficPlan {
  std::uint32_t concurrency = 0;   ///< under way at once; 0: no bound (needs request_rate)
  double request_rate = 0;         ///< requests a second; 0: closed loop
  double burstiness = 1;           ///< shape of the gaps' gamma distribution; 1: Poisson
  std::uint64_t num_requests = 0;  ///< measured ones; 0: no bound (needs duration)
  Duration duration;               ///< no request starts later; 0: no bound
  std::uint32_t warmup = 0;        ///< requests before the measured ones

  std::uint32_t isl = 512;  ///< prompt tokens, mean
  double isl_stddev = 0;
  std::uint32_t osl = 128;  ///< answer tokens to ask for, mean
  double osl_stddev = 0;
  std::uint32_t osl_spread = 0;  ///< instead: uniform within osl ± this

  double cancel_rate = 0;      ///< share of requests that the client leaves, 0 … 1
  Duration cancel_delay;       ///< after the start, at least
  Duration cancel_delay_most;  ///< and at most; below cancel_delay: exactly cancel_delay
  Duration timeout;            ///< a client's patience; 0: endless
  double slow_readers = 0;     ///< share of clients that read slowly, 0 … 1
  Duration slow_reader_starts = seconds(3600);  ///< they take nothing until then, and then all

  Slo slo;
  std::uint64_t seed = 1;
};

/// What makes a plan impossible, for the user.
Status check_plan(const TrafficPlan& plan);

}  // namespace troupe
