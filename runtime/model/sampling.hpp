// How the next token is chosen: the parameters of a request, as plain data, and its random numbers.
//
// Order: bias, temperature, top_k, top_p (of what top_k leaves), min_p (relative to the likeliest).
// The set of candidates is the same whatever the order of the last three, except that top_p is
// measured after top_k.
//
// Randomness: one uniform number a position, a function of (seed, position) alone. So a request
// that is moved, replayed or batched with others gives the same tokens for the same logits.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"

namespace troupe {

struct SamplingParams {
  double temperature = 1.0;  ///< 0: the likeliest token, the lowest id of equals; at most 100
  double top_p = 1.0;        ///< (0, 1]
  double min_p = 0.0;        ///< [0, 1]
  std::uint32_t top_k = 0;   ///< 0: off
  std::uint64_t seed = 0;
  std::int32_t logprobs = -1;  ///< -1: none; n: of the chosen token and of the n likeliest, n <= 20
  std::vector<std::pair<TokenId, float>> bias;  ///< added to the logits; each in [-100, 100],
                                                ///< or minus infinity: never this token
};

/// kInvalid, naming the parameter and its range. `vocabulary` bounds the ids in bias.
Status validate(const SamplingParams& params, std::size_t vocabulary);

/// In [0, 1), 53 bits.
double sampling_uniform(std::uint64_t seed, std::uint64_t position);

}  // namespace troupe
