// What a step costs on the simulated GPU: the formula fitted to published figures.
//
//   prefill  t = a + b q + g Σ q_i (c_i + q_i / 2)
//            q: prompt tokens of the step, c: tokens before them
//   decode   t = t0 + k Σ ctx_i / 131072 + p1 N + (p2 − p1) max(0, N − N1)
//            N: decoded tokens
//
// Source: shared/simulation/CALIB.md, fit to seed 004's plots of one GPU of an EP4/DP4 prefill
// engine and of an EP64/DP64 decode engine (DeepSeek's recipe, 131,072 tokens of context). t0
// contains all-to-all and imbalance. A step that holds both kinds of work costs the sum of both,
// less `shared`: 0, as nothing published says what they share; what a measured engine saves by
// reading its weights once.
//
// A step outside of the fitted ranges is an extrapolation: it is computed all the same, counted,
// and every report says so. Units: seconds and tokens. Threads: one.
#pragma once

#include <cstdint>

#include "runtime/simulation/group_cost.hpp"
#include "runtime/simulation/step_cost.hpp"

namespace troupe {

/// Who sets constants of his own says so in their `set_by`: no fit is claimed for them then, and no
/// range (the reports of a run tell people where its figures come from).
struct PrefillConstants {
  double a = 21.97e-3;           ///< seconds a step
  double b = 10.838e-6;          ///< seconds a token
  double g = 0;                  ///< seconds a token²: not determined by the source
  std::uint32_t q_least = 4096;  ///< smallest plotted chunk (assumed there)
  std::uint32_t q_most = 65536;
  std::string set_by;  ///< a and b: who set them; empty: the fit
};

struct DecodeConstants {
  double t0 = 9.804e-3;
  double k = 0.01468e-3;   ///< seconds for 131,072 tokens of context (896 B each at 8 TB/s)
  double p1 = 0.00408e-3;  ///< seconds a token below the knee
  double p2 = 0.01374e-3;  ///< and above
  double n1 = 272;         ///< the knee, tokens
  double shared = 0;       ///< seconds that a step with prompts and rows saves
  std::uint32_t batch_least = 8;
  std::uint32_t batch_most = 256;
  std::uint32_t context_most = 131072;  ///< the only published context
  std::string set_by;                   ///< t0, p1, p2 and n1
  std::string k_set_by;
};

struct CostUse {
  std::uint64_t steps = 0;
  std::uint64_t mixed_steps = 0;  ///< prefill and decode in one step: their costs were added
  // Times that were asked for, one a member of a group and step; contexts: one a step or row.
  std::uint64_t prefills = 0;
  std::uint64_t prefill_outside = 0;  ///< with fewer or more prompt tokens than fitted
  std::uint64_t decodes = 0;
  std::uint64_t decode_batch_outside = 0;
  std::uint64_t contexts = 0;
  std::uint64_t context_outside = 0;  ///< longer than the published context
};

class CostModel final : public StepCost, public GroupCost {
 public:
  explicit CostModel(PrefillConstants prefill = {}, DecodeConstants decode = {})
      : prefill_(prefill), decode_(decode) {}

  Duration step(const StepPlan& plan) override;

  /// One GPU's part of a step, as sums (group_models.hpp). `tokens` > 0, Σ q; `pairs`: Σ q (c +
  /// q/2).
  double prefill_seconds(double tokens, double pairs);
  /// `rows` sequences with `tokens` verified tokens (drafts included) and `context` tokens of KV.
  double decode_seconds(double rows, double tokens, double context);
  /// A step with a row of this length.
  void saw_context(std::uint64_t longest) override;
  void saw_step() override { ++use_.steps; }
  double prompts_seconds(const PromptWork& work) override {
    return prefill_seconds(work.tokens, work.pairs());
  }
  double rows_seconds(const RowWork& work) override {
    return decode_seconds(work.rows, work.tokens, work.context);
  }

  const CostUse& use() const { return use_; }
  /// Each constant with its unit, source and range.
  std::vector<std::string> describe() const override;
  std::string extrapolation() const override;

 private:
  PrefillConstants prefill_;
  DecodeConstants decode_;
  CostUse use_;
};

}  // namespace troupe
