// Learns a prefill curve from the steps that a GPU really took.
//
// Why online: the curve differs by hardware, model, and what else runs, and drifts by some percent
// in a day. A scheduler that believes an old curve misses its step time in every step.
//
// Method: recursive least squares over t = a + b Σq + g Σq(c + q/2), weighted by 1/t² (an error of
// 2 % means the same in a short and in a long step), as ALGOS 4.2 found best of six. Large errors
// are clipped (Huber); slow outliers beyond `reject` deviations are thrown away, fast ones are not:
// nothing makes a GPU fast by accident.
//
// One thing differs from there: instead of forgetting old steps, the curve may drift, as a whole
// quickly and each constant by itself slowly (a Kalman filter). Steps that a scheduler filled to
// one budget all have the same predicted time, so that they never tell a from b; forgetting lets
// one of them take all of the time, and the steps shrink to nothing.
//
// Invariants
// 1. a, b, g stay finite and at least 0, whatever is observed.
// 2. g moves only by steps with long prefixes: short ones do not determine it (std(g)/g is 17 % up
//    to 16K tokens of prefix, 1 % up to 500K), and would drive it by chance.
// 3. The same observations give the same curve: no clock, no chance.
//
// Units: seconds inside, nanoseconds in PrefillCurve. Pure; one owner.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"
#include "runtime/cost/prefill_curve.hpp"

namespace troupe {

/// One step, as it was measured.
struct StepSample {
  std::uint64_t tokens = 0;  ///< Σ q
  double attention = 0;      ///< Σ q (c + q / 2), tokens²
  Duration took;

  void add(std::uint32_t chunk, std::uint64_t context) {
    tokens += chunk;
    attention += chunk * (static_cast<double>(context) + chunk / 2.0);
  }
};

class CostFit {
 public:
  struct Options {
    double clip = 3;                   ///< deviations, from where an error weighs less
    double reject = 8;                 ///< deviations, from where a slow step is ignored
    std::uint32_t surprises_most = 6;  ///< large errors in a row: the curve is wrong, not the steps
    std::uint32_t trusting = 30;       ///< first samples, taken as they are
    double deviation_least = 0.005;    ///< relative
    double deviation_most = 0.2;
    double long_context = 16'384;      ///< tokens before a chunk, on average, from where g moves
    std::uint64_t tokens_least = 128;  ///< shorter steps say nothing about b
  };
  enum class Verdict : std::uint8_t { kUsed, kClipped, kRejected, kIgnored };

  explicit CostFit(const PrefillCurve& start) : CostFit(start, Options()) {}
  CostFit(const PrefillCurve& start, const Options& options);

  /// A sweep at start-up, several sizes by several prefixes: sets all three constants. kInvalid if
  /// the samples do not determine them (the curve stays as it was).
  Status calibrate(std::span<const StepSample> sweep);

  Verdict observe(const StepSample& step);

  PrefillCurve curve() const;
  /// The relative deviation of steps from the curve.
  double deviation() const { return deviation_; }
  std::uint64_t samples() const { return samples_; }

  /// One line of text, and back. kCorrupt says what does not fit.
  std::string save() const;
  static Result<CostFit> load(std::string_view line, const Options& options);

 private:
  using Vector = std::array<double, 3>;
  Vector features(const StepSample& step) const;
  double predict(const Vector& x) const;
  void doubt_all(double relative);
  void doubt_level(double relative);
  void update(Vector x, double error, double variance, bool moves_g);

  Options options_;
  std::uint64_t trusting_until_ = 0;  ///< samples
  Vector theta_{};                    // in units of kScale
  std::array<Vector, 3> covariance_{};
  double deviation_ = 0.05;
  std::uint64_t samples_ = 0;
  std::uint32_t surprises_ = 0;  ///< large errors in a row
};

}  // namespace troupe
