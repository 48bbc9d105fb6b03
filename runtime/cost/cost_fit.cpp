#include "runtime/cost/cost_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace troupe {

namespace {

/// Brings the features of usual steps near 1: a step, 10,000 tokens, 1e9 tokens².
constexpr std::array<double, 3> kScale{1, 1e-4, 1e-9};
constexpr double kNs = 1e9;
/// The smallest prediction that errors are measured against, seconds.
constexpr double kTimeLeast = 0.005;
/// Share of the newest error in the running deviation, and what makes a mean of |e| a deviation.
constexpr double kNewest = 0.01;
constexpr double kMeanToDeviation = 1.25;
/// How unsure a constant is at the start, relative to itself (g: to kUnsureG at least, in units of
/// kScale).
constexpr double kUnsure = 0.7;
constexpr double kUnsureCalibrated = 0.05;
constexpr double kUnsureG = 0.01;
/// How far the whole curve, and each constant by itself, may drift from one step to the next.
constexpr double kDriftOfAll = 3e-3;
constexpr double kDriftOfOne = 1e-4;
/// How unsure the level of the curve is after a row of surprises.
constexpr double kUnsureLevel = 0.3;

double determinant(const std::array<std::array<double, 3>, 3>& m) {
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

}  // namespace

CostFit::CostFit(const PrefillCurve& start, const Options& options)
    : options_(options),
      theta_{start.a / kNs / kScale[0], start.b / kNs / kScale[1], start.g / kNs / kScale[2]} {
  doubt_all(kUnsure);
}

void CostFit::doubt_all(double relative) {
  covariance_ = {};
  for (std::size_t i = 0; i < 3; ++i) covariance_[i][i] = std::pow(relative * theta_[i], 2);
  covariance_[2][2] = std::max(covariance_[2][2], std::pow(relative * kUnsureG, 2));
  trusting_until_ = samples_ + options_.trusting;
}

CostFit::Vector CostFit::features(const StepSample& step) const {
  return {kScale[0], static_cast<double>(step.tokens) * kScale[1], step.attention * kScale[2]};
}

double CostFit::predict(const Vector& x) const {
  return x[0] * theta_[0] + x[1] * theta_[1] + x[2] * theta_[2];
}

Status CostFit::calibrate(std::span<const StepSample> sweep) {
  std::array<Vector, 3> normal{};
  Vector right{};
  for (const auto& step : sweep) {
    const Vector x = features(step);
    const double seconds = step.took.seconds();
    if (seconds <= 0) return Error{Code::kInvalid, "a calibration step took no time"};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) normal[i][j] += x[i] * x[j] / (seconds * seconds);
      right[i] += x[i] / seconds;
    }
  }
  const double whole = determinant(normal);
  // Against the product of the diagonal: 1 for independent features, 0 for ones that repeat.
  const double independent = normal[0][0] * normal[1][1] * normal[2][2];
  if (!(whole > 1e-9 * independent)) {
    return Error{Code::kInvalid,
                 "the calibration steps do not determine the curve: vary sizes and prefixes"};
  }
  Vector solved{};
  for (std::size_t i = 0; i < 3; ++i) {
    auto replaced = normal;
    for (std::size_t row = 0; row < 3; ++row) replaced[row][i] = right[row];
    solved[i] = std::max(0.0, determinant(replaced) / whole);
  }
  theta_ = solved;
  doubt_all(kUnsureCalibrated);
  trusting_until_ = samples_;
  return ok_status();
}

CostFit::Verdict CostFit::observe(const StepSample& step) {
  const double seconds = step.took.seconds();
  const bool sane = std::isfinite(step.attention) && step.attention >= 0;
  if (!sane || seconds <= 0 || step.tokens < options_.tokens_least) return Verdict::kIgnored;
  const Vector x = features(step);
  const double expected = std::max(predict(x), kTimeLeast);
  const double error = seconds - predict(x);
  const double relative = error / expected;
  const bool trusting = samples_++ < trusting_until_;
  const double usual = trusting ? options_.deviation_most : deviation_;
  deviation_ =
      std::clamp((1 - kNewest) * deviation_ +
                     kNewest * kMeanToDeviation * std::min(std::abs(relative), 4 * deviation_),
                 options_.deviation_least, options_.deviation_most);
  double variance = usual * usual * expected * expected;
  Verdict verdict = Verdict::kUsed;
  if (std::abs(relative) > options_.clip * usual) {
    variance *= std::abs(relative) / (options_.clip * usual);
    verdict = Verdict::kClipped;
    if (!trusting && ++surprises_ >= options_.surprises_most) {
      surprises_ = 0;
      trusting_until_ = samples_ + options_.trusting;
      doubt_level(kUnsureLevel);
    } else if (!trusting && relative > options_.reject * usual) {
      return Verdict::kRejected;
    }
  } else {
    surprises_ = 0;
  }
  const double mean_context = step.attention / static_cast<double>(step.tokens);
  update(x, error, variance, mean_context >= options_.long_context);
  return verdict;
}

void CostFit::doubt_level(double relative) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      covariance_[i][j] += relative * relative * theta_[i] * theta_[j];
    }
  }
}

void CostFit::update(Vector x, double error, double variance, bool moves_g) {
  doubt_level(kDriftOfAll);
  for (std::size_t i = 0; i < 3; ++i) {
    covariance_[i][i] += kDriftOfOne * kDriftOfOne * theta_[i] * theta_[i];
  }
  if (!moves_g) x[2] = 0;  // as if g were known
  Vector px{};
  double xpx = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) px[i] += covariance_[i][j] * x[j];
    xpx += x[i] * px[i];
  }
  const double scale = 1 / (variance + xpx);
  for (std::size_t i = 0; i < (moves_g ? 3 : 2); ++i) {
    theta_[i] = std::max(0.0, theta_[i] + px[i] * scale * error);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) covariance_[i][j] -= scale * px[i] * px[j];
  }
}

PrefillCurve CostFit::curve() const {
  PrefillCurve curve;
  curve.a = theta_[0] * kScale[0] * kNs;
  curve.b = theta_[1] * kScale[1] * kNs;
  curve.g = theta_[2] * kScale[2] * kNs;
  return curve;
}

std::string CostFit::save() const {
  std::array<char, 256> line;
  std::snprintf(line.data(), line.size(), "prefill-cost 1 %.17g %.17g %.17g %.17g %llu", theta_[0],
                theta_[1], theta_[2], deviation_, static_cast<unsigned long long>(samples_));
  return line.data();
}

Result<CostFit> CostFit::load(std::string_view line, const Options& options) {
  Vector theta{};
  double deviation = 0;
  unsigned long long samples = 0;
  const std::string text(line.substr(0, 256));
  const int read = std::sscanf(text.c_str(), "prefill-cost 1 %lf %lf %lf %lf %llu", &theta[0],
                               &theta[1], &theta[2], &deviation, &samples);
  if (read != 5) {
    return Error{
        Code::kCorrupt,
        "a saved cost fit is 'prefill-cost 1 A B G DEVIATION SAMPLES', not '" + text + "'"};
  }
  for (const double value : {theta[0], theta[1], theta[2], deviation}) {
    if (!std::isfinite(value) || value < 0) {
      return Error{Code::kCorrupt,
                   "a saved cost fit holds a value that is not a number of 0 or more"};
    }
  }
  CostFit fit(PrefillCurve{}, options);
  fit.theta_ = theta;
  fit.doubt_all(kUnsureCalibrated);
  fit.trusting_until_ = 0;
  fit.deviation_ = std::clamp(deviation, options.deviation_least, options.deviation_most);
  fit.samples_ = samples;
  return fit;
}

}  // namespace troupe
