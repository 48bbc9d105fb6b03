// From logits to a token.
//
// Invariants:
//   1. The result is a function of (logits, params, position): no state is kept between calls.
//   2. A logit that is NaN or infinite is an Error (kCorrupt) that names its id; no token is drawn.
//   3. Only ids below logits.size() come out. A model with padded vocabulary rows passes the rows
//      that the tokenizer has: logits.first(tokenizer.size()).
//   4. Log-probabilities are the model's own: before bias, temperature and filters.
//
// Cost: two passes over the vocabulary without top_k and top_p. With them a selection instead of
// a sort: O(vocabulary) plus the sort of the candidates that are really needed.
//
// Threads: one owner (scratch memory of about 12 bytes a vocabulary entry).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/model/sampling.hpp"

namespace troupe {

struct Sampled {
  TokenId token;
  float logprob = 0;                           ///< 0 unless asked for
  std::vector<std::pair<TokenId, float>> top;  ///< the likeliest first; lower ids first of equals
};

class Sampler {
 public:
  /// `position` is the token's index in the sequence. Requires: validate(params,
  /// logits.size()).ok()
  Result<Sampled> sample(std::span<const float> logits, const SamplingParams& params,
                         std::uint64_t position);

 private:
  std::span<const float> with_bias(std::span<const float> logits, const SamplingParams& params);
  void weigh(std::span<const float> logits, float max, double temperature);
  std::uint32_t draw_from_all(const SamplingParams& params, double uniform) const;
  double collect_candidates(const SamplingParams& params);
  std::uint32_t draw_from_likeliest(const SamplingParams& params, double uniform);
  std::size_t sort_candidates(std::size_t sorted, std::size_t wanted);
  void add_logprobs(std::span<const float> logits, float max, std::int32_t count, Sampled& out);

  std::vector<float> biased_;
  std::vector<float> weights_;        // relative to the likeliest, which has 1
  std::vector<std::uint32_t> order_;  // ids; the likeliest first as far as sorted
};

}  // namespace troupe
