#include "actors/pd/prefix_index.hpp"

#include "actors/pd/hit_policy.hpp"

namespace troupe {

std::uint32_t PrefixIndex::hit(const SimulatedWork& work, std::uint32_t length, Time now,
                               Rng& rng) {
  std::uint32_t hit = 0;
  if (options_.store_life > Duration()) store_.drop_unused(now - options_.store_life);
  if (options_.shared) {
    const std::uint64_t stored =
        work.chain().empty() ? work.cached
                             : std::uint64_t{store_.leading(work.chain())} * options_.chain_tokens;
    const auto bounded = static_cast<std::uint32_t>(std::min<std::uint64_t>(stored, length));
    hit = prefix_hit(length, bounded, has_window(work, now, rng));
  }
  asked_ += length;
  hit_ += hit;
  return hit;
}

bool PrefixIndex::has_window(const SimulatedWork& work, Time now, Rng& rng) {
  const bool lucky = !rng.chance(options_.window_miss);
  if (work.session == 0) return lucky;
  const Time* until = windows_.find(work.session);
  return lucky && until != nullptr && now < *until;
}

void PrefixIndex::answered(const SimulatedWork& work, Time now) {
  if (options_.shared) store_.touch(work.chain(), now);
}

void PrefixIndex::computed(const SimulatedWork& work, std::uint32_t length, Time now) {
  if (!options_.shared) return;
  store_.touch(prompt_chain(work.chain(), length, options_.chain_tokens), now);
  if (work.session == 0) return;
  const Time until = now + options_.window_life;
  if (Time* known = windows_.find(work.session)) {
    *known = until;
  } else if (windows_.size() < options_.sessions_most) {
    windows_.insert(work.session, until);
  }
}

}  // namespace troupe
