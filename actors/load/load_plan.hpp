// What requests a load is made of: the data behind the load flags (tools/traffic/load_table.hpp).
//
// Arrivals: at `request_rate`, by `phases`, or at a trace's times; without any of them whoever asks
// decides (closed loop). Prompts: draws, or a trace's rows. Sessions: a first turn arrives as any
// request does, later ones follow the answer and a think time; a turn's prompt is all that was said
// before and something new. Prefixes: each session begins with the system prompt of one of
// `prefix_groups` groups.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/load/distribution.hpp"
#include "actors/load/rate_curve.hpp"
#include "runtime/base/engine_limits.hpp"

namespace troupe {

struct PixelSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

struct TracePlan {
  std::string file;  ///< empty: no trace
  double speed = 1;  ///< how much faster than it was recorded
  /// Tokens that one hash id stands for. 512: the public Mooncake traces (traces/README.md).
  std::uint32_t block_tokens = 512;
};

struct LoadPlan {
  double request_rate = 0;          ///< requests a second; 0: no rate of its own
  std::vector<RatePhase> phases;    ///< instead of request_rate
  double burstiness = 1;            ///< shape of the gaps' gamma distribution; 1: Poisson
  TracePlan trace;                  ///< instead of isl, osl, turns, prefixes, images
  Distribution isl = 512;           ///< prompt tokens of a request, or of a session's first turn
  Distribution osl = 128;           ///< answer tokens to ask for
  Distribution turns = 1;           ///< of a session
  Distribution turn_isl = 0;        ///< new tokens of a later turn; 0: as isl
  Distribution think = 0;           ///< seconds from an answer to the next turn
  std::uint64_t context_max = 0;    ///< a turn with more tokens, answer included, ends the session
  std::uint32_t prefix_groups = 0;  ///< shared system prompts; 0: none
  Distribution prefix_len = 0;      ///< their tokens, beside isl
  double prefix_skew = 0;           ///< group k is (k + 1)^-skew times as likely as the first
  std::uint32_t tools = 0;          ///< tool definitions of each request
  Distribution images = 0;          ///< a request that has some has so many
  double image_share = 0;           ///< share of sessions whose first turn has images, 0 … 1
  std::vector<PixelSize> image_sizes;  ///< each alike

  double cancel_rate = 0;      ///< share of requests that the client leaves, 0 … 1
  Duration cancel_delay;       ///< after the start, at least
  Duration cancel_delay_most;  ///< and at most; below cancel_delay: exactly cancel_delay
  double slow_readers = 0;     ///< share of clients that read slowly, 0 … 1
  std::uint64_t seed = 1;

  bool has_rate() const { return request_rate > 0 || !phases.empty(); }
  /// The phases, or the one rate.
  RateCurve curve() const;
};

/// "1024x768,512x512", sides from 1 to 16,384.
Result<std::vector<PixelSize>> parse_pixel_sizes(std::string_view text);

/// What makes it impossible, for the user. It does not look into the trace.
Status check_load(const LoadPlan& plan);

}  // namespace troupe
