// What one CPU engine takes at most: the same for the configuration, which refuses more with its
// key, and for the model, whose threads and working memory it bounds.
#pragma once

#include <cstdint>

namespace troupe {

inline constexpr std::uint32_t kCpuThreadsMax = 256;
inline constexpr std::uint32_t kStepTokensMax = 65536;

}  // namespace troupe
