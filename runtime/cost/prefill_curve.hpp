// What prefilling costs on one GPU, and how many tokens fit into a step's time.
//
//   t = a + Σ (b q_i + g q_i (c_i + q_i / 2))        q_i: new tokens, c_i: tokens before them
//
// Why time and not tokens: a chunk behind a long prefix costs more than the same chunk at the
// beginning. Ranks of a group wait for each other at every layer, so each gets the same time, and
// takes the largest chunk that fits (seed 000, layer d of the prefill balancer).
//
// Invariants
// 1. work(q, c) never falls when q or c grows.
// 2. largest_chunk(left, c) is the largest q with work(q, c) <= left: exact to one token.
// 3. StepFill: the times of the chunks it gave add up to at most the budget, except that a step
//    without any work gets one granule of its first request: nobody starves behind a long prefix.
//
// Source: ALGOS 4.1; form and constants of CALIB.md. Units: nanoseconds, tokens. Pure.
#pragma once

#include <cstdint>

#include "runtime/base/time.hpp"

namespace troupe {

struct PrefillCurve {
  double a = 21.97e6;   ///< ns a step (CALIB.md: EP4/DP4 prefill engine)
  double b = 10.838e3;  ///< ns a token
  double g = 0;         ///< ns a token²: not determined by the seeds, a parameter

  /// One chunk's share of a step, rounded up. Without a.
  Duration work(std::uint32_t chunk, std::uint64_t context) const;
  /// A step with this one chunk.
  Duration step(std::uint32_t chunk, std::uint64_t context) const;
};

/// The largest chunk whose work fits into `left`; 0 if not even one token does.
std::uint32_t largest_chunk(const PrefillCurve& curve, Duration left, std::uint64_t context);

struct ChunkLimits {
  std::uint32_t granule = 128;    ///< chunks end at block boundaries, except a prompt's last
  std::uint32_t tokens = 32'768;  ///< of a step (seed 004)
};

/// Fills one step of one GPU, request by request, first come first served.
class StepFill {
 public:
  StepFill(const PrefillCurve& curve, Duration budget, const ChunkLimits& limits = {});

  /// Tokens of the next request, of which `context` are before and `rest` are still to compute. 0:
  /// the step is full, and later requests wait too. Requires: rest > 0.
  std::uint32_t take(std::uint64_t context, std::uint32_t rest);

  std::uint32_t tokens() const { return tokens_; }
  /// Of the step so far; zero if it is empty.
  Duration time() const { return tokens_ == 0 ? Duration() : base_ + used_; }

 private:
  PrefillCurve curve_;
  ChunkLimits limits_;
  Duration base_;  ///< a, whole
  Duration left_;
  Duration used_;
  std::uint32_t tokens_ = 0;
};

}  // namespace troupe
