// Learns what the steps of a real engine cost, as the simulator asks for it.
//
//   t = P [prompts] + D [rows] - S [both] + b q + g Σ q (c + q / 2) + p n + k Σ ctx
//
// q: prompt tokens of the step, c: tokens before each, n: rows that decode, ctx: their KV. The
// first three are the pass over the weights: of a step with prompts, with decoding rows, and what a
// step with both of them saves because it passes once.
//
// Why beside CostFit: that one follows a scheduler's curve of prompts from step to step; this one
// describes an engine once, decode included, so that a laptop's run can be predicted (docs/
// simulation.md, A laptop). Steps are kept, at most `samples_most` (a fair choice of all of them,
// by a seeded hash), and fitted when asked: least squares of relative errors, repeated with less
// weight on large ones (Huber), so that a step during which the machine did something else counts
// little. No constant is below zero.
//
// Units: seconds, tokens. Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

struct EngineStep {
  std::uint64_t prompt_tokens = 0;  ///< q
  double attention = 0;             ///< Σ q (c + q / 2)
  std::uint32_t rows = 0;           ///< n
  double context = 0;               ///< Σ ctx
  Duration took;
};

/// Seconds.
struct StepConstants {
  double prefill_base = 0;
  double decode_base = 0;
  double shared = 0;
  double per_prompt_token = 0;
  double per_pair = 0;
  double per_row = 0;
  double per_context_token = 0;

  double step(const EngineStep& step) const;
};

class StepFit {
 public:
  static constexpr std::size_t kSamplesLeast = 50;
  static constexpr std::size_t kSamplesMost = 20'000;

  void add(const EngineStep& step);
  std::uint64_t seen() const { return seen_; }
  /// kUnavailable: fewer steps than kSamplesLeast.
  Result<StepConstants> fit() const;
  /// Median of |step / predicted - 1| over the kept steps.
  double median_error(const StepConstants& constants) const;

 private:
  std::vector<EngineStep> kept_;
  std::uint64_t seen_ = 0;
};

}  // namespace troupe
