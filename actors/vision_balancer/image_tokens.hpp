// How many tokens of a prompt an image is.
//
// V4.1's encoder merges 3 x 3 patches of 14 x 14 pixels into one token; each row of them ends with
// a token of its own, and two stand around the whole: ceil(h / 42) (ceil(w / 42) + 1) + 2. This
// fits all 32 images of the recipe's vectors (SPEC.md, section 4). The vendor's resolver first
// enlarges small images and shrinks large ones; here an image counts with the pixels that it is
// given.
//
// Pure. Units: pixels, tokens.
#pragma once

#include <cstdint>

#include "actors/vision_balancer/vision_pool.hpp"

namespace troupe {

/// Patches a side that one token stands for.
inline constexpr std::uint32_t kPatchesMerged = 3;

/// `patch`: pixels a side of a patch. Requires: patch > 0.
constexpr std::uint64_t image_tokens(const ImageSize& image, std::uint32_t patch) {
  const std::uint64_t side = std::uint64_t{patch} * kPatchesMerged;
  const auto parts = [&](std::uint32_t pixels) { return (pixels + side - 1) / side; };
  return parts(image.height) * (parts(image.width) + 1) + 2;
}

}  // namespace troupe
