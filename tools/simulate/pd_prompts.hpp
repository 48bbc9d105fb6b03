// The prompts of a cluster's load: a length, what of it may be cached, and the answer's length.
//
// What may be cached is a share of each prompt, or, where prompts share beginnings (sessions,
// prefix groups, traces), the hashes of its blocks and its answer's. The answer's length goes
// sealed with the request: only the simulated device reads it.
//
// Images count as tokens of the prompt. Where a share of prompts is cached they are new ones: the
// share is that of the words, and images stand behind it.
#pragma once

#include <algorithm>

#include "actors/traffic/prompt_maker.hpp"
#include "actors/traffic/traffic_plan.hpp"
#include "tools/simulate/image_prompt.hpp"

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
  /// Images are taken, in patches of so many pixels a side; else they are not looked at.
  PdPrompts with_patches(std::uint32_t patch) const {
    PdPrompts prompts = *this;
    prompts.patch_ = patch;
    return prompts;
  }

  void fill(HttpArrived& request, const PlannedRequest& planned,
            std::span<const std::string>) const override {
    const std::uint64_t words = tokens_of(planned.prompt);
    if (!shows_images(planned)) {
      return fill(request, planned, words, words, {});
    }
    const PlannedRequest shown = with_images(planned, patch_);
    const std::uint64_t length = tokens_of(shown.prompt);
    std::vector<SimulatedImage> images = placed_images(shown);
    if (block_tokens_ == 0) {
      for (SimulatedImage& image : images) image.end = static_cast<std::uint32_t>(length);
    }
    fill(request, shown, words, length, std::move(images));
  }
  std::uint64_t tokens(const PlannedRequest& planned) const override {
    std::uint64_t sum = tokens_of(planned.prompt);
    if (!shows_images(planned)) return sum;
    for (const PromptImage& image : planned.images) sum += image_piece(image, patch_).tokens;
    return sum;
  }
  bool answers_are_events() const override { return false; }

 private:
  bool shows_images(const PlannedRequest& planned) const {
    return patch_ > 0 && !planned.images.empty();
  }
  /// `words`: tokens of the prompt without images.
  void fill(HttpArrived& request, const PlannedRequest& planned, std::uint64_t words,
            std::uint64_t length, std::vector<SimulatedImage> images) const {
    SimulatedWork work;
    work.output = std::max(1u, planned.output_tokens);
    if (block_tokens_ > 0 || !images.empty()) {
      PromptParts parts;
      if (block_tokens_ > 0) parts.chain = block_chain(with_answer(planned), block_tokens_);
      parts.images = std::move(images);
      work.parts = std::make_shared<const PromptParts>(std::move(parts));
    }
    if (planned.in_session) work.session = planned.session;
    work.cached = static_cast<std::uint32_t>(cached_share_ * static_cast<double>(words) + 0.5);
    request.method = "POST";
    request.path = "/v1/chat/completions";
    request.simulated =
        SimulatedPrompt{static_cast<std::uint32_t>(length), 0, SealedWork{std::move(work)}};
  }

  double cached_share_;
  std::uint32_t block_tokens_ = 0;  ///< 0: no chains
  std::uint32_t patch_ = 0;         ///< 0: no images
};

}  // namespace troupe
