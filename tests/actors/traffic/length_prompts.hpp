// Prompts that are lengths, for whoever plays the server in a test.
#pragma once

#include "actors/traffic/prompt_maker.hpp"

namespace troupe {

class LengthPrompts final : public PromptMaker {
 public:
  void fill(HttpArrived& request, const PlannedRequest& planned,
            std::span<const std::string>) const override {
    request.method = "POST";
    request.path = "/v1/chat/completions";
    const auto tokens = static_cast<std::uint32_t>(tokens_of(planned.prompt));
    request.simulated = SimulatedPrompt{tokens, 0};
  }
  bool answers_are_events() const override { return false; }
};

}  // namespace troupe
