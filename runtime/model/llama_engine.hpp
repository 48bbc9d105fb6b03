// The Llama model as the engine of a CPU device: plans in, tokens out.
//
// forward() computes all rows of a plan in one pass over the weights and keeps the logits of those
// that want a token; sample() chooses them by (seed, position). The last token of each row stays
// here, so that the next plan can use it before the CPU side has seen it.
//
// Invariant: a row's logits do not depend on the other rows of its plan (llama.hpp, invariant 1).
// Threads: those of StepEngine. Ownership: owns model and cache.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/step_engine.hpp"
#include "runtime/model/llama.hpp"
#include "runtime/model/sampler.hpp"

namespace troupe {

class LlamaEngine final : public StepEngine {
 public:
  /// `tokens`: ids that the tokenizer has; vocabulary rows beyond are padding.
  LlamaEngine(std::unique_ptr<LlamaModel> model, std::uint32_t block_count, std::size_t tokens);

  Status forward(const StepPlan& plan, const std::atomic<bool>& cancelled) override;
  Result<StepResult> sample(const StepPlan& plan, const std::atomic<bool>& cancelled) override;

 private:
  std::unique_ptr<LlamaModel> model_;
  KvCache cache_;
  std::size_t tokens_;
  Sampler sampler_;
  std::vector<float> logits_;         ///< of the rows of the latest plan that want a token
  std::vector<TokenId> last_tokens_;  ///< by RowId
};

}  // namespace troupe
