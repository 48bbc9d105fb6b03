#include "runtime/model/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "runtime/base/assert.hpp"

namespace troupe {
namespace {

/// exp(-40) times a million tokens is 4e-12 of the likeliest one: no draw of 53 bits from real
/// logits tells it from nothing, and most of a vocabulary is that unlikely.
constexpr float kNegligible = -40;

/// How many candidates are sorted first; more only if top_p needs them.
constexpr std::size_t kFirstCandidates = 64;

std::optional<std::size_t> find_not_finite(std::span<const float> logits) {
  // x - x is 0 for finite x and NaN otherwise, and the sum keeps a NaN: no branch in the loop.
  float sum = 0;
  for (const float logit : logits) sum += logit - logit;
  if (sum == 0) return std::nullopt;
  const auto bad =
      std::find_if(logits.begin(), logits.end(), [](float logit) { return !std::isfinite(logit); });
  return static_cast<std::size_t>(bad - logits.begin());
}

/// The likeliest first, the lower id first of equals.
auto more_likely(std::span<const float> values) {
  return [values](std::uint32_t a, std::uint32_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  };
}

}  // namespace

Result<Sampled> Sampler::sample(std::span<const float> logits, const SamplingParams& params,
                                std::uint64_t position) {
  if (logits.empty()) return Error{Code::kInvalid, "there are no logits to sample from"};
  if (const auto bad = find_not_finite(logits)) {
    return Error{Code::kCorrupt, "the logit of token " + std::to_string(*bad) +
                                     " is not a finite number: the forward pass is broken"};
  }
  const std::span<const float> scores = with_bias(logits, params);
  const auto likeliest = std::max_element(scores.begin(), scores.end());
  std::uint32_t id = static_cast<std::uint32_t>(likeliest - scores.begin());
  if (params.temperature > 0) {
    weigh(scores, *likeliest, params.temperature);
    const double uniform = sampling_uniform(params.seed, position);
    const bool all = params.top_p >= 1 && (params.top_k == 0 || params.top_k >= scores.size());
    id = all ? draw_from_all(params, uniform) : draw_from_likeliest(params, uniform);
  }
  Sampled out{.token = TokenId(static_cast<std::int32_t>(id))};
  if (params.logprobs >= 0) {
    add_logprobs(logits, *std::max_element(logits.begin(), logits.end()), params.logprobs, out);
  }
  return out;
}

std::span<const float> Sampler::with_bias(std::span<const float> logits,
                                          const SamplingParams& params) {
  if (params.bias.empty()) return logits;
  biased_.assign(logits.begin(), logits.end());
  for (const auto& [id, value] : params.bias) {
    TROUPE_ASSERT(static_cast<std::size_t>(id.value) < biased_.size(),
                  "validate() has checked ids");
    biased_[static_cast<std::size_t>(id.value)] += value;
  }
  return biased_;
}

void Sampler::weigh(std::span<const float> logits, float max, double temperature) {
  // The bound keeps 0 * scale at 0 for temperatures near 0.
  const auto scale = static_cast<float>(std::min(1.0 / temperature, 1e30));
  weights_.resize(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float exponent = (logits[i] - max) * scale;
    weights_[i] = exponent < kNegligible ? 0.0F : std::exp(exponent);
  }
}

std::uint32_t Sampler::draw_from_all(const SamplingParams& params, double uniform) const {
  const auto min = static_cast<float>(params.min_p);
  double total = 0;
  for (const float weight : weights_) total += weight >= min ? weight : 0.0F;
  double left = uniform * total;
  std::uint32_t last = 0;
  for (std::uint32_t id = 0; id < weights_.size(); ++id) {
    if (weights_[id] < min || weights_[id] == 0) continue;
    last = id;
    left -= weights_[id];
    if (left < 0) break;
  }
  return last;  // rounding may leave a crumb: then the last candidate takes it
}

/// Sorts order_ up to `wanted`, given that it is sorted up to `sorted`; returns how far it is.
std::size_t Sampler::sort_candidates(std::size_t sorted, std::size_t wanted) {
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(sorted);
  const auto end = order_.begin() + static_cast<std::ptrdiff_t>(wanted);
  if (end != order_.end()) std::nth_element(first, end, order_.end(), more_likely(weights_));
  std::sort(first, end, more_likely(weights_));
  return wanted;
}

/// Fills order_ with all that can be drawn, in any order; returns their mass as top_p sees it.
double Sampler::collect_candidates(const SamplingParams& params) {
  if (params.top_k > 0 && params.top_k < weights_.size()) {
    order_.resize(weights_.size());
    std::iota(order_.begin(), order_.end(), 0u);
    const auto end = order_.begin() + static_cast<std::ptrdiff_t>(params.top_k);
    std::nth_element(order_.begin(), end, order_.end(), more_likely(weights_));
    order_.erase(end, order_.end());
    double total = 0;
    for (const std::uint32_t id : order_) total += weights_[id];
    return total;
  }
  double total = 0;
  for (const float weight : weights_) total += weight;
  // All tokens below this weight together have less than the share that top_p leaves out.
  const double least = (1 - params.top_p) * total / static_cast<double>(weights_.size());
  order_.clear();
  for (std::uint32_t id = 0; id < weights_.size(); ++id) {
    if (weights_[id] >= least) order_.push_back(id);
  }
  return total;
}

std::uint32_t Sampler::draw_from_likeliest(const SamplingParams& params, double uniform) {
  const double total = collect_candidates(params);
  const std::size_t count = order_.size();
  const double wanted = params.top_p >= 1 ? total : params.top_p * total;
  std::size_t sorted = 0;
  std::size_t kept = 0;
  double mass = 0;
  while (kept < count && mass < wanted) {
    if (kept == sorted)
      sorted = sort_candidates(sorted, std::min(count, kFirstCandidates + 8 * sorted));
    const float weight = weights_[order_[kept]];
    if (kept > 0 && (weight < static_cast<float>(params.min_p) || weight == 0)) break;
    mass += weight;
    ++kept;
  }
  double left = uniform * mass;
  for (std::size_t i = 0; i + 1 < kept; ++i) {
    left -= weights_[order_[i]];
    if (left < 0) return order_[i];
  }
  return order_[kept - 1];
}

void Sampler::add_logprobs(std::span<const float> logits, float max, std::int32_t count,
                           Sampled& out) {
  double sum = 0;
  for (const float logit : logits) {
    if (logit - max > kNegligible) sum += std::exp(logit - max);
  }
  const double log_total = std::log(sum) + max;
  const auto logprob = [&](std::size_t id) { return static_cast<float>(logits[id] - log_total); };
  out.logprob = logprob(static_cast<std::size_t>(out.token.value));
  order_.resize(logits.size());
  std::iota(order_.begin(), order_.end(), 0u);
  const auto top = std::min(order_.size(), static_cast<std::size_t>(count));
  std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(top), order_.end(),
                    more_likely(logits));
  for (std::size_t i = 0; i < top; ++i) {
    out.top.emplace_back(TokenId(static_cast<std::int32_t>(order_[i])), logprob(order_[i]));
  }
}

}  // namespace troupe
