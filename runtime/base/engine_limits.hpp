// What one CPU engine and one request take at most: the same for the configuration and the load,
// which refuse more with its key, and for those whose threads and memory it bounds.
#pragma once

#include <cstdint>

namespace troupe {

inline constexpr std::uint32_t kCpuThreadsMax = 256;
inline constexpr std::uint32_t kStepTokensMax = 65536;

/// Images of one request: the recipe's own bound (SPEC.md, section 4).
inline constexpr std::uint32_t kImagesMost = 600;

}  // namespace troupe
