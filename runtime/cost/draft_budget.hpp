// How many draft tokens a decode rank verifies in a step: speculative decoding's budget.
//
// Why not always all: below the knee of the step's curve verification is nearly free, above it each
// verified token costs compute, and late drafts rarely survive. DSpark verifies the drafts of the
// highest confidence, as many as give the most tokens a second (seed 000; ALGOS section 2).
//
//   off         no drafts: one token a row and step
//   fixed       all drafts of each row
//   confidence  v drafts a row on average, the v with the most accepted tokens a second:
//               argmax A(v) / t(rows, v), on a grid of 0.05
//
// Acceptance (CALIB.md): A(v) = 1 + m (1 - exp(-(v / c)^d)) tokens a row and step, for drafts taken
// in the order of confidence; all five together give 3.30. Choosing lengths by row costs 1.51 % of
// a step (a kernel that sorts and scatters), whatever v comes out.
//
// Pure; units: seconds, tokens. The curve is what the scheduler believes; what steps really take is
// the device's.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace troupe {

/// The decode step's curve; constants of CALIB.md (runtime/simulation/cost_model.hpp says more).
struct DecodeCurve {
  double t0 = 9.804e-3;
  double k = 0.01468e-3;
  double p1 = 0.00408e-3;
  double p2 = 0.01374e-3;
  double n1 = 272;

  double step(double rows, double verified, double context) const;
};

struct Acceptance {
  double m = 2.3138;
  double c = 1.6823;
  double d = 1.5;
  std::uint32_t drafts = 5;  ///< that a row proposes a step

  /// Tokens a row and step when v drafts are verified, the likeliest first.
  double tokens(double v) const;
};

enum class DraftRule : std::uint8_t { kOff, kFixed, kConfidence };
std::string_view to_string(DraftRule rule);
/// kInvalid names the rules that there are.
Result<DraftRule> draft_rule_from(std::string_view name);

class DraftBudget {
 public:
  struct Options {
    DraftRule rule = DraftRule::kConfidence;
    Acceptance acceptance;
    DecodeCurve curve;
    double context = 131'072;     ///< tokens of a row that the table is made for
    std::uint32_t rows_most = 0;  ///< of the table; more rows use its last entry
  };
  explicit DraftBudget(const Options& options);

  /// Drafts a row, on average, of a rank with so many rows.
  float drafts(std::uint32_t rows) const {
    return table_[rows < table_.size() ? rows : table_.size() - 1];
  }

 private:
  std::vector<float> table_;  ///< by rows
};

}  // namespace troupe
