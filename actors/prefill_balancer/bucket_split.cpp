#include "actors/prefill_balancer/bucket_split.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "runtime/base/assert.hpp"

namespace troupe {

std::uint32_t bucket_of(std::uint32_t length) {
  std::uint32_t bucket = 0;
  while (bucket < kBucketBounds.size() && length >= kBucketBounds[bucket]) ++bucket;
  return bucket;
}

std::array<std::uint32_t, kLengthBuckets> lanes_of(const BucketDemand& demand,
                                                   std::uint32_t engines) {
  TROUPE_ASSERT(engines > 0, "lanes need an engine");
  std::vector<double> sums(demand.begin(), demand.end());
  std::array<std::uint32_t, kLengthBuckets> lanes{};
  std::iota(lanes.begin(), lanes.end(), 0u);
  while (sums.size() > engines) {
    std::size_t least = 0;  // the pair (least, least + 1)
    for (std::size_t i = 1; i + 1 < sums.size(); ++i) {
      if (sums[i] + sums[i + 1] <= sums[least] + sums[least + 1]) least = i;
    }
    sums[least] += sums[least + 1];
    sums.erase(sums.begin() + static_cast<std::ptrdiff_t>(least) + 1);
    for (auto& lane : lanes) {
      if (lane > least) --lane;
    }
  }
  return lanes;
}

std::vector<std::uint32_t> fair_shares(const std::vector<Lane>& lanes) {
  std::uint32_t engines = 0;
  double demand = 0;
  for (const Lane& lane : lanes) {
    engines += lane.engines;
    demand += lane.demand;
  }
  std::vector<std::uint32_t> shares(lanes.size());
  std::vector<double> remainders(lanes.size());
  std::uint32_t given = 0;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const double exact = demand > 0 ? engines * lanes[i].demand / demand : lanes[i].engines;
    shares[i] = std::max<std::uint32_t>(static_cast<std::uint32_t>(exact), lanes[i].work ? 1 : 0);
    remainders[i] = exact - shares[i];
    given += shares[i];
  }
  for (; given < engines; ++given) {
    const auto most = std::max_element(remainders.begin(), remainders.end());
    ++shares[static_cast<std::size_t>(most - remainders.begin())];
    *most -= 1;
  }
  // The least that each lane gets may have given too many: who is furthest above its share pays.
  for (; given > engines; --given) {
    std::optional<std::size_t> payer;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (shares[i] <= (lanes[i].work ? 1u : 0u)) continue;
      if (!payer || remainders[i] < remainders[*payer]) payer = i;
    }
    TROUPE_ASSERT(payer.has_value(), "no more lanes with work than engines");
    --shares[*payer];
    remainders[*payer] += 1;
  }
  return shares;
}

std::vector<EngineMove> moves_of_round(std::vector<Lane> lanes,
                                       const std::vector<std::uint32_t>& shares,
                                       std::uint32_t most) {
  const auto surplus = [&](std::size_t i) {
    return static_cast<std::int64_t>(lanes[i].engines) - static_cast<std::int64_t>(shares[i]);
  };
  std::vector<EngineMove> moves;
  const auto move_to = [&](std::size_t to) {
    std::size_t from = 0;
    for (std::size_t i = 1; i < lanes.size(); ++i) {
      if (surplus(i) > surplus(from)) from = i;
    }
    if (surplus(from) <= 0) return false;
    --lanes[from].engines;
    ++lanes[to].engines;
    moves.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)});
    return true;
  };
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].work && lanes[i].engines == 0) move_to(i);
  }
  for (; most > 0; --most) {
    std::size_t neediest = 0;
    for (std::size_t i = 1; i < lanes.size(); ++i) {
      if (surplus(i) < surplus(neediest)) neediest = i;
    }
    if (surplus(neediest) >= 0 || !move_to(neediest)) break;
  }
  return moves;
}

}  // namespace troupe
