#include "tools/plan/endless_cache.hpp"

#include <algorithm>

namespace troupe {

std::uint64_t EndlessCache::take(const PlannedRequest& request) {
  const auto chain = block_chain(with_answer(request), kBlockTokens);
  std::uint64_t known = 0;
  while (known < chain.size() && blocks_.contains(chain[known])) ++known;
  if (!full()) blocks_.insert(chain.begin() + static_cast<std::ptrdiff_t>(known), chain.end());
  const std::uint64_t all = tokens_of(request.prompt);
  const std::uint64_t most = all > kAlwaysComputed ? all - kAlwaysComputed : 0;
  return std::min(known, most / kBlockTokens) * kBlockTokens;
}

}  // namespace troupe
