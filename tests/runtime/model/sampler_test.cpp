#include "runtime/model/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

/// The rules as written: a full sort, doubles, no shortcuts. Probability of each id.
std::vector<double> naive(const std::vector<float>& logits, const SamplingParams& params) {
  std::vector<double> scores(logits.begin(), logits.end());
  for (const auto& [id, value] : params.bias) scores[static_cast<std::size_t>(id.value)] += value;
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  std::vector<double> weights;
  for (const auto id : order) {
    weights.push_back(std::exp((scores[id] - scores[order[0]]) / params.temperature));
  }
  if (params.top_k > 0 && params.top_k < order.size()) weights.resize(params.top_k);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::size_t kept = 0;
  for (double mass = 0; kept < weights.size() && mass < params.top_p * total; ++kept) {
    mass += weights[kept];
  }
  weights.resize(kept);
  while (weights.size() > 1 && weights.back() < params.min_p) weights.pop_back();
  const double rest = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> out(scores.size(), 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i) out[order[i]] = weights[i] / rest;
  return out;
}

std::vector<float> random_logits(Rng& rng, std::size_t size, double spread) {
  std::vector<float> logits(size);
  for (float& logit : logits) logit = static_cast<float>((rng.uniform() - 0.5) * spread);
  return logits;
}

std::uint32_t draw(Sampler& sampler, const std::vector<float>& logits, const SamplingParams& params,
                   std::uint64_t position) {
  EXPECT_TRUE(validate(params, logits.size()).ok());
  return static_cast<std::uint32_t>(sampler.sample(logits, params, position).value().token.value);
}

TEST(Sampler, temperature_zero_takes_the_lowest_of_the_likeliest) {
  Sampler sampler;
  SamplingParams params{.temperature = 0};
  EXPECT_EQ(draw(sampler, {1, 5, 5, 2}, params, 0), 1u);
  params.bias = {{TokenId(3), 4.0f}};
  EXPECT_EQ(draw(sampler, {1, 5, 5, 2}, params, 0), 3u);
}

TEST(Sampler, seed_and_position_decide_alone) {
  Rng rng(3);
  const auto logits = random_logits(rng, 500, 8);
  Sampler one;
  Sampler other;
  const SamplingParams params{.top_p = 0.9, .seed = 77};
  std::vector<std::uint32_t> tokens;
  for (std::uint64_t position = 0; position < 50; ++position) {
    tokens.push_back(draw(one, logits, params, position));
  }
  for (std::uint64_t position = 50; position-- > 0;) {
    EXPECT_EQ(draw(other, logits, params, position), tokens[position]);
  }
  EXPECT_GT(std::set<std::uint32_t>(tokens.begin(), tokens.end()).size(), 10u);
}

/// Chi-square of observed counts: with d degrees of freedom its mean is d, its deviation sqrt(2d).
void expect_frequencies(const std::vector<float>& logits, SamplingParams params) {
  constexpr int kDraws = 20'000;
  const auto expected = naive(logits, params);
  std::vector<int> counts(logits.size(), 0);
  Sampler sampler;
  for (int i = 0; i < kDraws; ++i) {
    ++counts[draw(sampler, logits, params, static_cast<std::uint64_t>(i))];
  }
  double chi_square = 0;
  int cells = 0;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if (expected[id] == 0) {
      ASSERT_EQ(counts[id], 0) << "token " << id << " is filtered out";
      continue;
    }
    const double mean = expected[id] * kDraws;
    if (mean < 5) continue;
    chi_square += (counts[id] - mean) * (counts[id] - mean) / mean;
    ++cells;
  }
  EXPECT_LT(chi_square, cells + 5 * std::sqrt(2.0 * cells)) << cells;
}

TEST(Sampler, frequencies_are_those_of_a_naive_reference) {
  Rng rng(17);
  const auto logits = random_logits(rng, 120, 6);
  expect_frequencies(logits, {.seed = 1});
  expect_frequencies(logits, {.temperature = 0.5, .seed = 2});
  expect_frequencies(logits, {.temperature = 1.7, .top_p = 0.8, .seed = 3});
  expect_frequencies(logits, {.top_k = 7, .seed = 4});
  expect_frequencies(logits, {.min_p = 0.2, .seed = 5});
  expect_frequencies(logits, {.top_p = 0.7, .min_p = 0.1, .top_k = 20, .seed = 6});
  expect_frequencies(logits, {.seed = 7, .bias = {{TokenId(5), 3.0f}, {TokenId(6), -100.0f}}});
}

TEST(Sampler, filters_keep_exactly_the_candidates_of_the_reference) {
  Rng rng(29);
  for (int round = 0; round < 300; ++round) {
    auto logits = random_logits(rng, 2 + rng.below(400), 0.5 + rng.uniform() * 20);
    if (rng.chance(0.3)) {
      for (float& logit : logits) logit = std::round(logit);  // many ties
    }
    SamplingParams params{.temperature = 0.3 + rng.uniform() * 2, .seed = rng.next()};
    if (rng.chance(0.6)) params.top_p = 0.05 + rng.uniform() * 0.9;
    if (rng.chance(0.5)) params.top_k = static_cast<std::uint32_t>(1 + rng.below(50));
    if (rng.chance(0.3)) params.min_p = rng.uniform() * 0.3;
    const auto expected = naive(logits, params);
    Sampler sampler;
    for (std::uint64_t position = 0; position < 40; ++position) {
      ASSERT_GT(expected[draw(sampler, logits, params, position)], 0.0) << "round " << round;
    }
  }
}

TEST(Sampler, logprobs_are_of_the_model_alone) {
  const std::vector<float> logits = {0.0f, std::log(2.0f), std::log(5.0f), 0.0f};
  SamplingParams params{.temperature = 0, .logprobs = 3, .bias = {{TokenId(0), 50.0f}}};
  Sampler sampler;
  const auto sampled = sampler.sample(logits, params, 0).value();
  EXPECT_EQ(sampled.token, TokenId(0));
  EXPECT_NEAR(sampled.logprob, std::log(1.0 / 9), 1e-6);
  ASSERT_EQ(sampled.top.size(), 3u);
  EXPECT_EQ(sampled.top[0].first, TokenId(2));
  EXPECT_NEAR(sampled.top[0].second, std::log(5.0 / 9), 1e-6);
  EXPECT_EQ(sampled.top[1].first, TokenId(1));
  EXPECT_EQ(sampled.top[2].first, TokenId(0));  // ties: the lower id
  params.logprobs = 0;
  EXPECT_TRUE(sampler.sample(logits, params, 0).value().top.empty());
}

TEST(Sampler, logits_that_are_no_numbers_are_an_error) {
  Sampler sampler;
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    const std::vector<float> logits = {1, bad, 2};
    const auto sampled = sampler.sample(logits, {}, 0);
    ASSERT_FALSE(sampled.ok());
    EXPECT_EQ(sampled.error().code, Code::kCorrupt);
    EXPECT_NE(sampled.error().message.find("token 1"), std::string::npos);
  }
  EXPECT_FALSE(sampler.sample({}, {}, 0).ok());
}

TEST(Sampler, extreme_logits_and_temperatures_stay_finite) {
  Sampler sampler;
  const float max = std::numeric_limits<float>::max();
  EXPECT_EQ(draw(sampler, {-max, max, -max}, {.temperature = 1e-9}, 1), 1u);
  EXPECT_EQ(draw(sampler, {-max, max, -max}, {.temperature = 1e-300, .top_p = 0.5}, 1), 1u);
  EXPECT_EQ(draw(sampler, {5, 5}, {.top_p = 1e-300}, 1), 0u);
  EXPECT_EQ(draw(sampler, {5}, {.min_p = 1, .top_k = 9}, 1), 0u);
}

TEST(Sampling, parameters_out_of_range_are_named) {
  const auto message = [](const SamplingParams& params) {
    const auto status = validate(params, 10);
    return status.ok() ? "ok" : status.error().message;
  };
  EXPECT_EQ(message({}), "ok");
  EXPECT_EQ(message({.temperature = std::nan("")}), "temperature must be in [0, 100]");
  EXPECT_EQ(message({.temperature = -1}), "temperature must be in [0, 100]");
  EXPECT_EQ(message({.top_p = 0}), "top_p must be in (0, 1]");
  EXPECT_EQ(message({.min_p = 2}), "min_p must be in [0, 1]");
  EXPECT_EQ(message({.logprobs = 21}), "logprobs must be in [-1, 20]");
  EXPECT_EQ(message({.bias = {{TokenId(10), 0.0f}}}),
            "logit_bias names token 10, but the vocabulary has 10");
  EXPECT_EQ(message({.bias = {{TokenId(1), -std::numeric_limits<float>::infinity()}}}), "ok");
  EXPECT_EQ(message({.bias = {{TokenId(1), 101.0f}}}), "logit_bias must be in [-100, 100]");
}

TEST(Sampling, uniform_numbers_are_uniform) {
  std::vector<int> bins(20, 0);
  for (std::uint64_t position = 0; position < 20'000; ++position) {
    const double value = sampling_uniform(42, position);
    ASSERT_TRUE(value >= 0 && value < 1);
    ++bins[static_cast<std::size_t>(value * 20)];
  }
  for (const int count : bins) EXPECT_NEAR(count, 1000, 150);
  EXPECT_NE(sampling_uniform(1, 2), sampling_uniform(2, 1));
}

}  // namespace
}  // namespace troupe
