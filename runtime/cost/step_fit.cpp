#include "runtime/cost/step_fit.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/base/rng.hpp"

namespace troupe {

namespace {

constexpr std::size_t kConstants = 7;
using Features = std::array<double, kConstants>;
using Matrix = std::array<Features, kConstants>;
/// Times of reweighting, and the relative error from which a step weighs less.
constexpr int kPasses = 12;
constexpr double kHuber = 0.05;
/// Keeps the equations solvable where steps leave a constant open; against sums of thousands.
constexpr double kRidge = 1e-9;

/// In units that bring usual steps near 1: 100 tokens, 10,000 pairs, 1,000 tokens of KV.
constexpr Features kUnits{1, 1, 1, 100, 1e4, 1, 1e3};

Features features_of(const EngineStep& step) {
  const double prompts = step.prompt_tokens > 0 ? 1 : 0, rows = step.rows > 0 ? 1 : 0;
  Features x{prompts,         rows,
             -prompts * rows, static_cast<double>(step.prompt_tokens),
             step.attention,  static_cast<double>(step.rows),
             step.context};
  for (std::size_t i = 0; i < kConstants; ++i) x[i] /= kUnits[i];
  return x;
}

/// Solves for the constants that are `open`; the others are 0. Gauss with pivots on the diagonal,
/// which is enough for a positive definite matrix.
Features solve(Matrix m, Features right, const std::array<bool, kConstants>& open) {
  for (std::size_t i = 0; i < kConstants; ++i) {
    m[i][i] += kRidge * (m[i][i] + 1);
    if (open[i]) continue;
    for (std::size_t j = 0; j < kConstants; ++j) m[i][j] = m[j][i] = 0;
    m[i][i] = 1;
    right[i] = 0;
  }
  for (std::size_t i = 0; i < kConstants; ++i) {
    for (std::size_t row = i + 1; row < kConstants; ++row) {
      const double factor = m[row][i] / m[i][i];
      for (std::size_t j = i; j < kConstants; ++j) m[row][j] -= factor * m[i][j];
      right[row] -= factor * right[i];
    }
  }
  Features theta{};
  for (std::size_t i = kConstants; i-- > 0;) {
    double sum = right[i];
    for (std::size_t j = i + 1; j < kConstants; ++j) sum -= m[i][j] * theta[j];
    theta[i] = sum / m[i][i];
  }
  return theta;
}

/// The same with no constant below zero: whoever is leaves, the most negative first.
Features solve_positive(const Matrix& m, const Features& right) {
  std::array<bool, kConstants> open;
  open.fill(true);
  for (std::size_t round = 0; round < kConstants; ++round) {
    const Features theta = solve(m, right, open);
    const auto least = std::min_element(theta.begin(), theta.end());
    if (*least >= 0) return theta;
    open[static_cast<std::size_t>(least - theta.begin())] = false;
  }
  return {};
}

StepConstants constants_of(const Features& theta) {
  Features c = theta;
  for (std::size_t i = 0; i < kConstants; ++i) c[i] /= kUnits[i];
  return {c[0], c[1], c[2], c[3], c[4], c[5], c[6]};
}

}  // namespace

double StepConstants::step(const EngineStep& step) const {
  double seconds = 0;
  if (step.prompt_tokens > 0) {
    seconds += prefill_base + per_prompt_token * static_cast<double>(step.prompt_tokens) +
               per_pair * step.attention;
  }
  if (step.rows > 0) {
    seconds += decode_base + per_row * step.rows + per_context_token * step.context;
    if (step.prompt_tokens > 0) seconds -= shared;
  }
  return std::max(0.0, seconds);
}

void StepFit::add(const EngineStep& step) {
  if (step.took <= Duration() || (step.prompt_tokens == 0 && step.rows == 0)) return;
  ++seen_;
  if (kept_.size() < kSamplesMost) return kept_.push_back(step);
  // Each of all steps is kept with the same chance.
  const std::uint64_t place = mix64(0x57e9, seen_) % seen_;
  if (place < kSamplesMost) kept_[place] = step;
}

Result<StepConstants> StepFit::fit() const {
  if (kept_.size() < kSamplesLeast) {
    return Error{Code::kUnavailable, "only " + std::to_string(kept_.size()) +
                                         " steps were measured; a fit needs " +
                                         std::to_string(kSamplesLeast)};
  }
  StepConstants found;
  for (int pass = 0; pass < kPasses; ++pass) {
    Matrix m{};
    Features right{};
    for (const EngineStep& step : kept_) {
      const Features x = features_of(step);
      const double seconds = step.took.seconds();
      const double error = pass == 0 ? 0 : std::abs(found.step(step) / seconds - 1);
      const double weight = std::min(1.0, kHuber / std::max(error, 1e-9)) / (seconds * seconds);
      for (std::size_t i = 0; i < kConstants; ++i) {
        for (std::size_t j = 0; j < kConstants; ++j) m[i][j] += weight * x[i] * x[j];
        right[i] += weight * x[i] * seconds;
      }
    }
    found = constants_of(solve_positive(m, right));
  }
  return found;
}

double StepFit::median_error(const StepConstants& constants) const {
  std::vector<double> errors;
  for (const EngineStep& step : kept_) {
    errors.push_back(std::abs(constants.step(step) / step.took.seconds() - 1));
  }
  if (errors.empty()) return 0;
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  return *middle;
}

}  // namespace troupe
