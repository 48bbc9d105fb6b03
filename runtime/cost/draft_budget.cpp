#include "runtime/cost/draft_budget.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace troupe {

namespace {
constexpr std::array<std::pair<DraftRule, std::string_view>, 3> kRules{{
    {DraftRule::kOff, "off"},
    {DraftRule::kFixed, "fixed"},
    {DraftRule::kConfidence, "confidence"},
}};
constexpr double kContextUnit = 131'072;
/// The grid on which v is sought; below 0.3 the fitted acceptance says nothing (CALIB.md).
constexpr double kGrid = 0.05;
constexpr double kLeastDrafts = 0.3;

float best_drafts(const DraftBudget::Options& options, double rows) {
  double best = 0;
  double most = 0;
  for (int i = 0;; ++i) {
    const double v = kLeastDrafts + kGrid * i;
    if (v > options.acceptance.drafts + kGrid / 2) break;
    const double rate = options.acceptance.tokens(v) /
                        options.curve.step(rows, rows * (1 + v), rows * options.context);
    if (rate > most) most = rate, best = v;
  }
  return static_cast<float>(best);
}
}  // namespace

double DecodeCurve::step(double rows, double verified, double context) const {
  return rows <= 0 ? 0
                   : t0 + k * context / kContextUnit + p1 * verified +
                         (p2 - p1) * std::max(0.0, verified - n1);
}

double Acceptance::tokens(double v) const {
  return v <= 0 ? 1 : 1 + m * (1 - std::exp(-std::pow(v / c, d)));
}

std::string_view to_string(DraftRule rule) {
  for (const auto& [known, name] : kRules) {
    if (known == rule) return name;
  }
  return "unknown";
}

Result<DraftRule> draft_rule_from(std::string_view name) {
  std::string known;
  for (const auto& [rule, text] : kRules) {
    if (text == name) return rule;
    known += known.empty() ? "" : ", ";
    known += text;
  }
  return Error{Code::kInvalid,
               "no rule of drafts is called " + std::string(name) + "; there are " + known};
}

DraftBudget::DraftBudget(const Options& options) : table_(options.rows_most + 1) {
  for (std::uint32_t rows = 1; rows < table_.size(); ++rows) {
    switch (options.rule) {
      case DraftRule::kOff:
        break;
      case DraftRule::kFixed:
        table_[rows] = static_cast<float>(options.acceptance.drafts);
        break;
      case DraftRule::kConfidence:
        table_[rows] = best_drafts(options, rows);
        break;
    }
  }
}

}  // namespace troupe
