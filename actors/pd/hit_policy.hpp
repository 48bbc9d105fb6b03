// How much of a prompt a prefix hit saves.
//
// Blocks of 128 tokens are in the store for days; the sliding window before the hit's end is in
// some machine's memory for minutes. At most length - 134 tokens hit (window 128, rollback 6). With
// the window the hit is the blocks' length; without it one block less, which is computed again to
// rebuild the window (seed 000, Hit policy).
//
// Pure. Units: tokens.
#pragma once

#include <algorithm>
#include <cstdint>

namespace troupe {

inline constexpr std::uint32_t kBlockTokens = 128;
inline constexpr std::uint32_t kWindowTokens = 134;

/// `stored`: leading tokens of the prompt that are in the store.
constexpr std::uint32_t prefix_hit(std::uint32_t length, std::uint32_t stored, bool window) {
  if (length <= kWindowTokens) return 0;
  const std::uint32_t blocks =
      std::min(stored, length - kWindowTokens) / kBlockTokens * kBlockTokens;
  return window || blocks == 0 ? blocks : blocks - kBlockTokens;
}

}  // namespace troupe
