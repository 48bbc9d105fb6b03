// The step times that other simulators use, so that both sides of a comparison simulate the same
// GPUs.
//
//   replay  ai-dynamo-runtime 1.6.1, its engine's default ("polynomial"), of one pass:
//             4.209989e-7 q² + 1.518344e-2 q + 16.50142 ms, for q prompt tokens, if there are any
//             5.74 + 54.01 p - 25.74 p² ms, p = context of all rows that get a token over KV
//   vidur   the linear stub that the comparison puts in the place of Vidur 0.0.26's predictor,
//           whose profiles its package does not hold: 8 + 0.02 n ms for n tokens of a batch
//
// Units: seconds, tokens.
#pragma once

#include "runtime/simulation/group_cost.hpp"

namespace troupe::bench {

class ReplayCost final : public GroupCost {
 public:
  explicit ReplayCost(double kv_tokens) : kv_tokens_(kv_tokens) {}
  double prompts_seconds(const PromptWork& work) override { return mixed_seconds(work, {}); }
  double rows_seconds(const RowWork& work) override;
  double mixed_seconds(const PromptWork& prompts, const RowWork& rows) override;
  std::vector<std::string> describe() const override { return {"the replay's polynomials"}; }
  std::string extrapolation() const override { return {}; }

 private:
  double kv_tokens_;
};

class LinearCost final : public GroupCost {
 public:
  double prompts_seconds(const PromptWork& work) override { return seconds(work.tokens); }
  double rows_seconds(const RowWork& work) override { return seconds(work.tokens); }
  double mixed_seconds(const PromptWork& prompts, const RowWork& rows) override {
    return seconds(prompts.tokens + rows.tokens);
  }
  std::vector<std::string> describe() const override { return {"8 ms + 0.02 ms a token"}; }
  std::string extrapolation() const override { return {}; }

 private:
  static double seconds(double tokens) { return 8e-3 + 0.02e-3 * tokens; }
};

}  // namespace troupe::bench
