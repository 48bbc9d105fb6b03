// A prompt with its images in it: where each stands, and how many tokens it is.
//
// Images stand before the first words of the user, as in a real chat (actors/traffic/prompt_maker).
// Each is a piece of its own, named by its content and size, so that prompts share an image exactly
// where a prefix cache may find it.
//
// Pure. Units: tokens.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "actors/load/request_source.hpp"
#include "actors/vision_balancer/image_tokens.hpp"
#include "runtime/base/rng.hpp"
#include "runtime/device/group_step.hpp"

namespace troupe {

inline PromptPiece image_piece(const PromptImage& image, std::uint32_t patch) {
  const std::uint64_t size = std::uint64_t{image.width} << 32 | image.height;
  const std::uint64_t tokens = image_tokens({image.width, image.height}, patch);
  return {mix64(image.content, size), static_cast<std::uint32_t>(tokens), PieceRole::kUser};
}

/// The request, its prompt with a piece for each image. Requires: patch > 0.
inline PlannedRequest with_images(const PlannedRequest& planned, std::uint32_t patch) {
  PlannedRequest shown = planned;
  auto words = std::find_if(shown.prompt.begin(), shown.prompt.end(),
                            [](const PromptPiece& one) { return one.role == PieceRole::kUser; });
  PromptPieces pieces;
  for (const PromptImage& image : planned.images) pieces.push_back(image_piece(image, patch));
  shown.prompt.insert(words, pieces.begin(), pieces.end());
  return shown;
}

/// Where the images of `shown` end. Requires: it is with_images() of a request.
inline std::vector<SimulatedImage> placed_images(const PlannedRequest& shown) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint32_t>::max();
  std::vector<SimulatedImage> images;
  std::uint64_t end = 0;
  auto piece = shown.prompt.begin();
  for (; piece != shown.prompt.end() && piece->role != PieceRole::kUser; ++piece) {
    end += piece->tokens;
  }
  for (const PromptImage& image : shown.images) {
    end += (piece++)->tokens;
    images.push_back({image.width, image.height, static_cast<std::uint32_t>(std::min(end, kLast))});
  }
  return images;
}

}  // namespace troupe
