// Where each simulated request was when: its phases, read off the messages of a world.
//
// An observer of deliveries (WorldOptions::observer), so that no core knows of it. A phase begins
// with the message that starts it, at its delivery:
//
//   front end   the request came in          (OpenRow, from its time of arrival)
//   queued      waits for a prefill GPU      (SubmitPrefill)
//   fetch       its hit is being fetched     (PrefillAssigned with a hit)
//   encode      its images are encoded       (EncodeImage; its hit is fetched meanwhile)
//   prefill     in the GPU's FIFO, computed  (StartPrefill)
//   placing     waits for a decode GPU       (PrefillEnded)
//   push        its KV is under way          (MoveBytes, a push)
//   decode      its tokens come              (StartDecode)
//
// Engines that do both show less: queued (SubmitRow), prefill (when the row was admitted, as its
// first TokenBatch tells), decode (from that batch on). What hit is not in their messages.
//
// A request that lost its group goes through some of them again. It ends with RowClosed, or
// CloseRow if its client left.
//
// Bounds: requests under way, the `slowest_most` with the longest time to first token, and the
// first `first_most` that ended. Threads: one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/traffic/histogram.hpp"
#include "runtime/actor/envelope.hpp"
#include "runtime/base/flat_map.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

enum class RequestPhase : std::uint8_t {
  kFrontEnd = 0,
  kQueued,
  kFetch,
  kEncode,
  kPrefill,
  kPlacing,
  kPush,
  kDecode
};
inline constexpr std::size_t kRequestPhases = 8;
/// Whose messages there are.
enum class ServedBy : std::uint8_t { kPools, kEngines };

const char* phase_name(RequestPhase phase);

struct RequestTimeline {
  struct Part {
    RequestPhase phase;
    Time begin;
  };
  std::uint64_t request = 0;
  std::uint32_t prompt_tokens = 0;
  std::optional<std::uint32_t> hit_tokens;
  std::uint32_t output_tokens = 0;
  std::vector<Part> parts;  ///< each lasts until the next one, the last until `ended`
  Time ended;
  Duration first_token;  ///< after its arrival; 0: none came
  bool client_left = false;
};

class RequestTimelines {
 public:
  struct Limits {
    std::size_t slowest_most = 24;
    std::size_t first_most = 0;
  };
  explicit RequestTimelines(Limits limits, ServedBy served_by = ServedBy::kPools)
      : limits_(limits), served_by_(served_by) {}

  void observe(Time now, const Envelope& envelope);

  /// The longest time to first token first.
  std::vector<RequestTimeline> slowest() const;
  /// In the order of their ends.
  const std::vector<RequestTimeline>& first() const { return first_; }
  /// Ended and not kept in first(), because there was no room.
  std::uint64_t left_out() const { return ended_ - first_.size(); }
  /// Times to first token of requests that got theirs since the last call, in seconds.
  Histogram take_first_tokens();

 private:
  RequestTimeline* find(RequestId request) { return live_.find(request.value); }
  void observe_pools(Time now, const Message& message);
  void observe_engines(Time now, const Message& message);
  void enter(RequestId request, RequestPhase phase, Time now);
  void encode(RequestId request, Time now);
  /// The answer's first token came; the next phase begins.
  void first_token(RequestId request, RequestPhase next, Time now);
  void end(RequestId request, std::uint32_t output, bool client_left, Time now);
  void keep_slowest(const RequestTimeline& one);

  const Limits limits_;
  const ServedBy served_by_;
  FlatMap<RequestTimeline> live_;
  std::vector<RequestTimeline> slowest_;  ///< a heap: the fastest of them on top
  std::vector<RequestTimeline> first_;
  std::uint64_t ended_ = 0;
  Histogram first_tokens_;
};

}  // namespace troupe
