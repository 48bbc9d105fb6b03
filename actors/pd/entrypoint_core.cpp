#include "actors/pd/entrypoint_core.hpp"

#include "actors/pd/hit_policy.hpp"

namespace troupe {

void EntrypointCore::on(const CheckPrefix& check, Context& context, Effects& out) {
  std::uint32_t hit = 0;
  if (check.sealed.work != nullptr) {
    const SimulatedWork& work = *check.sealed.work;
    const std::uint64_t stored =
        work.chain.empty() ? work.cached
                           : std::uint64_t{store_.leading(work.chain)} * args_.chain_tokens;
    const auto bounded = static_cast<std::uint32_t>(std::min<std::uint64_t>(stored, check.length));
    hit = prefix_hit(check.length, bounded, has_window(work, context));
  }
  asked_ += check.length;
  hit_ += hit;
  out.send(context.from, make_message<PrefixChecked>(check.request, hit));
}

bool EntrypointCore::has_window(const SimulatedWork& work, Context& context) {
  const bool lucky = !context.rng.chance(args_.window_miss);
  if (work.session == 0) return lucky;
  const Time* until = windows_.find(work.session);
  return lucky && until != nullptr && context.now < *until;
}

void EntrypointCore::on(const PrefixComputed& computed, Context& context, Effects&) {
  if (computed.sealed.work == nullptr) return;
  const SimulatedWork& work = *computed.sealed.work;
  store_.touch(work.chain);
  if (work.session == 0) return;
  const Time until = context.now + args_.window_life;
  if (Time* known = windows_.find(work.session)) {
    *known = until;
  } else if (windows_.size() < args_.sessions_most) {
    windows_.insert(work.session, until);
  }
}

}  // namespace troupe
