// How much of a prompt an endless prefix cache has: the rule of the seeds.
//
// Blocks of 128 tokens; of a prompt of L tokens at most L - 134 may come from the cache, because
// the last window is always computed, rounded down to whole blocks (CALIB.md, hit rule; windows are
// taken as cached). What it answers is an upper bound for any cache of such blocks.
//
// Pure. Bounds: at most kBlocksMax blocks are remembered; then it is full and says so.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "actors/load/request_source.hpp"

namespace troupe {

class EndlessCache {
 public:
  static constexpr std::uint32_t kBlockTokens = 128;
  static constexpr std::uint32_t kAlwaysComputed = 134;
  static constexpr std::size_t kBlocksMax = 1u << 24;

  /// How many of the prompt's tokens are there already; afterwards all whole blocks of it and of
  /// its answer are.
  std::uint64_t take(const PlannedRequest& request);
  bool full() const { return blocks_.size() >= kBlocksMax; }

 private:
  std::unordered_set<std::uint64_t> blocks_;
};

}  // namespace troupe
