// What a run of the load generator measured.
//
// Each measured request is recorded once, with exactly one outcome. Only ok requests enter the
// latency figures: an error is no throughput, and an answer without a token is a failure, never a
// TTFT of 0. Latencies count from the intended start, so that a late generator cannot flatter the
// server; its lag is a figure of its own.
//
// Units: seconds and tokens. Printing: report_text.hpp (people) and report_json.hpp (programs).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/traffic/histogram.hpp"
#include "actors/traffic/traffic_plan.hpp"

namespace troupe {

enum class Outcome : std::uint8_t {
  kOk = 0,
  kFailed,     ///< an error answer, a cut stream, or no answer
  kNoToken,    ///< status 200, but not one output token
  kCancelled,  ///< the client left, as planned
  kTimedOut,   ///< the client's patience ended
};

/// One request, at its end.
struct ExchangeRecord {
  Outcome outcome = Outcome::kOk;
  std::uint16_t status = 0;  ///< HTTP; 0: no answer began
  std::string error;         ///< if failed: one line
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
  Time intended;
  Time sent;
  std::optional<Time> first_token;
  std::optional<Time> last_token;
  Time ended;
  std::vector<Duration> gaps;  ///< between chunks with tokens
};

class TrafficReport {
 public:
  /// Different error texts that are counted apart; the rest goes to "other errors".
  static constexpr std::size_t kErrorsMax = 32;

  TrafficReport() = default;
  explicit TrafficReport(const TrafficPlan& plan) : plan_(plan) {}

  void begin(Time now) { begun_ = ended_ = now; }
  void started(Time intended, Time now, std::uint32_t live);
  void record(const ExchangeRecord& record);

  const TrafficPlan& plan() const { return plan_; }
  std::uint64_t count(Outcome outcome) const { return counts_[static_cast<int>(outcome)]; }
  std::uint64_t total() const;
  /// Failed, timed out and without a token, as a share of all that were not cancelled.
  double error_share() const;
  std::uint64_t good() const { return good_; }
  std::uint64_t input_tokens() const { return input_tokens_; }    ///< of ok requests
  std::uint64_t output_tokens() const { return output_tokens_; }  ///< of ok requests
  std::uint32_t peak_concurrency() const { return peak_; }
  Duration duration() const { return ended_ - begun_; }
  /// Started requests a second, from the first start to the last.
  double achieved_rate() const;
  const std::map<std::string, std::uint64_t>& errors() const { return errors_; }

  // Of ok requests.
  Histogram ttft;
  Histogram ttst;  ///< from the first to the second chunk
  Histogram tpot;  ///< the first token excluded
  Histogram itl;   ///< between chunks
  Histogram e2el;
  Histogram isl;
  Histogram osl;
  Histogram user_rate;  ///< tokens a second that one client sees, after its first
  // Of all.
  Histogram lag;  ///< actual start behind the intended one

 private:
  void record_ok(const ExchangeRecord& record);
  bool is_good(const ExchangeRecord& record) const;

  TrafficPlan plan_;
  std::uint64_t counts_[5] = {};
  std::uint64_t good_ = 0;
  std::uint64_t input_tokens_ = 0;
  std::uint64_t output_tokens_ = 0;
  std::uint32_t peak_ = 0;
  std::uint64_t starts_ = 0;
  Time first_start_;
  Time last_start_;
  Time begun_;
  Time ended_;
  std::map<std::string, std::uint64_t> errors_;
};

}  // namespace troupe
