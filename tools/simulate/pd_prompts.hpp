// The prompts of a cluster plan's load: a length, how much of it is cached, and the answer's
// length.
//
// The answer's length is drawn with the request and sealed: only the simulated device reads it.
#pragma once

#include "actors/traffic/prompt_maker.hpp"

namespace troupe {

class PdPrompts final : public PromptMaker {
 public:
  explicit PdPrompts(double cached_share) : cached_share_(cached_share) {}

  void fill(HttpArrived& request, const PlannedRequest& planned,
            std::span<const std::string>) const override {
    const auto length = static_cast<std::uint32_t>(tokens_of(planned.prompt));
    auto work = std::make_shared<SimulatedWork>();
    work->output = planned.output_tokens;
    work->cached = static_cast<std::uint32_t>(cached_share_ * length + 0.5);
    request.method = "POST";
    request.path = "/v1/chat/completions";
    request.simulated = SimulatedPrompt{length, 0, SealedWork{std::move(work)}};
  }
  bool answers_are_events() const override { return false; }

 private:
  double cached_share_;
};

}  // namespace troupe
