// The prompts of a cluster's load: a length, what of it may be cached, and the answer's length.
//
// What may be cached is a share of each prompt, or, where prompts share beginnings (sessions,
// prefix groups, traces), the hashes of its blocks and its answer's. The answer's length goes
// sealed with the request: only the simulated device reads it.
#pragma once

#include <algorithm>

#include "actors/traffic/prompt_maker.hpp"
#include "actors/traffic/traffic_plan.hpp"

namespace troupe {

/// Whether prompts of the load may begin alike.
inline bool shares_beginnings(const TrafficPlan& load) {
  return !load.trace.file.empty() || !load.turns.is_always(1) || load.prefix_groups > 0;
}

class PdPrompts final : public PromptMaker {
 public:
  /// Prompts of which a share is cached.
  explicit PdPrompts(double cached_share) : cached_share_(cached_share) {}
  /// Prompts that a cache of blocks of so many tokens is asked for.
  static PdPrompts with_chains(std::uint32_t block_tokens) {
    PdPrompts prompts(0);
    prompts.block_tokens_ = block_tokens;
    return prompts;
  }

  void fill(HttpArrived& request, const PlannedRequest& planned,
            std::span<const std::string>) const override {
    const auto length = static_cast<std::uint32_t>(tokens_of(planned.prompt));
    auto work = std::make_shared<SimulatedWork>();
    work->output = std::max(1u, planned.output_tokens);
    if (block_tokens_ > 0) work->chain = block_chain(with_answer(planned), block_tokens_);
    if (planned.in_session) work->session = planned.session;
    work->cached = static_cast<std::uint32_t>(cached_share_ * length + 0.5);
    request.method = "POST";
    request.path = "/v1/chat/completions";
    request.simulated = SimulatedPrompt{length, 0, SealedWork{std::move(work)}};
  }
  bool answers_are_events() const override { return false; }

 private:
  double cached_share_;
  std::uint32_t block_tokens_ = 0;  ///< 0: no chains
};

}  // namespace troupe
