// What a run of the load generator measured.
//
// Each measured request is recorded once, with exactly one outcome. Only ok requests enter the
// latency figures: an error is no throughput, and an answer without a token is a failure, never a
// TTFT of 0. Latencies count from the intended start, so that a late generator cannot flatter the
// server; its lag is a figure of its own, and TTFT and end-to-end latency are kept from the actual
// send, too. Prompt tokens are counted twice: as they were asked for, and as the server says that
// it saw them (usage), with those that it had cached.
//
// Units: seconds and tokens. Printing: report_text.hpp (people) and report_json.hpp (programs).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/traffic/histogram.hpp"
#include "actors/traffic/occupancy.hpp"
#include "actors/traffic/traffic_plan.hpp"

namespace troupe {

enum class Outcome : std::uint8_t {
  kOk = 0,
  kFailed,     ///< an error answer, a cut stream, or no answer
  kNoToken,    ///< status 200, but not one output token
  kCancelled,  ///< the client left, as planned
  kTimedOut,   ///< the client's patience ended
};

/// Classes of prompts by their tokens, as reports tell them apart: those of seed 000's buckets.
inline constexpr std::array<std::uint32_t, 3> kLengthEdges{16u << 10, 64u << 10, 256u << 10};
inline constexpr std::array<const char*, 4> kLengthNames{"<16K", "16-64K", "64-256K", ">=256K"};

/// One request, at its end.
struct ExchangeRecord {
  Outcome outcome = Outcome::kOk;
  std::uint16_t status = 0;                         ///< HTTP; 0: no answer began
  std::string error;                                ///< if failed: one line
  std::uint32_t prompt_tokens = 0;                  ///< asked for
  std::optional<std::uint32_t> seen_prompt_tokens;  ///< what the server says
  std::optional<std::uint32_t> cached_tokens;       ///< of those
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

  /// What the server said of the prompts of ok requests.
  struct Seen {
    std::uint64_t answers = 0;              ///< that had usage
    std::uint64_t prompt_tokens = 0;        ///< of those
    std::uint64_t cache_answers = 0;        ///< that said how much was cached
    std::uint64_t cache_prompt_tokens = 0;  ///< of those
    std::uint64_t cached_tokens = 0;
    /// Of the prompt tokens; nothing: nobody said.
    std::optional<double> cached_share() const;
  };

  TrafficReport() = default;
  explicit TrafficReport(const TrafficPlan& plan) : plan_(plan) {}

  void begin(Time now) { begun_ = ended_ = now; }
  void started(Time intended, Time now, std::uint32_t live);
  void record(const ExchangeRecord& record);
  /// The load ended before its end.
  void break_off(Error error) { broken_ = std::move(error); }
  /// A sentence for the reader; empty: none.
  void add_note(std::string note);

  const TrafficPlan& plan() const { return plan_; }
  std::uint64_t count(Outcome outcome) const { return counts_[static_cast<int>(outcome)]; }
  std::uint64_t total() const;
  /// Failed, timed out and without a token, as a share of all that were not cancelled.
  double error_share() const;
  std::uint64_t good() const { return good_; }
  std::uint64_t input_tokens() const { return input_tokens_; }  ///< of ok requests, as asked
  const Seen& seen() const { return seen_; }
  std::uint64_t output_tokens() const { return output_tokens_; }  ///< of ok requests
  std::uint32_t peak_concurrency() const { return peak_; }
  Duration duration() const { return ended_ - begun_; }
  /// Of all measured requests, from their sending to their end.
  const Occupancy& occupancy() const { return occupancy_; }
  /// Requests a second, from the first intended start to the last.
  double asked_rate() const;
  /// The same of actual starts.
  double achieved_rate() const;
  const std::optional<Error>& broken() const { return broken_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::map<std::string, std::uint64_t>& errors() const { return errors_; }
  /// What most of the requests without an answer have met; for people.
  std::string commonest_error() const;

  // Of ok requests, from the actual send.
  Histogram sent_ttft;
  Histogram sent_e2el;
  // Of ok requests.
  Histogram ttft;
  std::array<Histogram, kLengthNames.size()> ttft_by_length;  ///< kLengthEdges
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
  void take_seen(const ExchangeRecord& record);
  bool is_good(const ExchangeRecord& record) const;

  TrafficPlan plan_;
  std::uint64_t counts_[5] = {};
  std::uint64_t good_ = 0;
  std::uint64_t input_tokens_ = 0;
  Seen seen_;
  std::uint64_t output_tokens_ = 0;
  std::uint32_t peak_ = 0;
  std::uint64_t starts_ = 0;
  Occupancy occupancy_;
  Time first_intended_;
  Time last_intended_;
  Time first_start_;
  Time last_start_;
  Time begun_;
  Time ended_;
  std::map<std::string, std::uint64_t> errors_;
  std::optional<Error> broken_;
  std::vector<std::string> notes_;
};

}  // namespace troupe
