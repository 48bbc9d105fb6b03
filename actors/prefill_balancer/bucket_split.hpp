// How many engines each length bucket gets: layer a of the prefill balancer, as arithmetic.
//
// Why buckets: a prompt of a million tokens in front of a short one costs it seconds. Prompts of
// like length share engines, and the engines are divided anew each round by how much compute quota
// each bucket asked for in the round before (seed 000).
//
// Rules (ALGOS 4.1, and issue 6): shares by largest remainder; a bucket that has work gets at least
// one engine; an engine moves slowly, one a round, except the first of a bucket with work, which
// comes at once; demand is smoothed. Where there are fewer engines than buckets, neighbours share
// one: the pair with the least demand together first, on equal demand the longer ones.
//
// Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace troupe {

inline constexpr std::uint32_t kLengthBuckets = 4;
/// Upper bounds of all buckets but the last, in tokens of the whole prompt (seed 000).
inline constexpr std::array<std::uint32_t, kLengthBuckets - 1> kBucketBounds{16'384, 65'536,
                                                                             262'144};
std::uint32_t bucket_of(std::uint32_t length);

using BucketDemand = std::array<double, kLengthBuckets>;  ///< any unit, not negative

/// The lane of each bucket: 0 up, never falling, min(engines, buckets) lanes. Requires: engines >
/// 0.
std::array<std::uint32_t, kLengthBuckets> lanes_of(const BucketDemand& demand,
                                                   std::uint32_t engines);

struct Lane {
  double demand = 0;
  bool work = false;          ///< it has requests, or had in the last round
  std::uint32_t engines = 0;  ///< that it has now
};

/// Engines a lane by largest remainder; a lane with work gets at least one. Where nobody asks for
/// anything the lanes keep what they have. Requires: lanes with work <= their engines together.
std::vector<std::uint32_t> fair_shares(const std::vector<Lane>& lanes);

struct EngineMove {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  friend bool operator==(const EngineMove&, const EngineMove&) = default;
};

/// The moves of one round towards `shares`: first one engine to each lane that has work and none,
/// then at most `most` others.
std::vector<EngineMove> moves_of_round(std::vector<Lane> lanes,
                                       const std::vector<std::uint32_t>& shares,
                                       std::uint32_t most);

}  // namespace troupe
