#include "actors/pd/group_host_core.hpp"

namespace troupe {

namespace {
constexpr TimerTag kGroupUp{1, 0};

template <class Args>
struct CoreOf;
template <>
struct CoreOf<PrefillEngineCore::Args> {
  using Core = PrefillEngineCore;
};
template <>
struct CoreOf<DecodeInstanceCore::Args> {
  using Core = DecodeInstanceCore;
};
template <>
struct CoreOf<EncoderMachineCore::Args> {
  using Core = EncoderMachineCore;
};
}  // namespace

void GroupHostCore::on(const Started&, Context& context, Effects& out) {
  if (args_.up_already) return begin(context, out);
  wait(context, out);
}

void GroupHostCore::wait(Context& context, Effects& out) {
  const auto spread = static_cast<std::int64_t>(context.rng.uniform() *
                                                static_cast<double>(args_.start_spread.value));
  out.timer(kGroupUp, context.now + args_.start_up + Duration(spread));
}

void GroupHostCore::begin(Context& context, Effects& out) {
  ++starts_;
  std::visit(
      [&](const auto& args) {
        using Core = typename CoreOf<std::decay_t<decltype(args)>>::Core;
        group_ = last_ ? context.respawn<Core>(out, last_, args) : context.spawn<Core>(out, args);
      },
      args_.group);
  last_ = group_;
}

void GroupHostCore::on(const TimerFired&, Context& context, Effects& out) {
  begin(context, out);
}

void GroupHostCore::on(const Down& down, Context& context, Effects& out) {
  out.warn("group_down",
           to_string(down.ref) + " " + std::string(to_string(down.reason)) + ": " + down.detail);
  out.count("troupe_groups_lost_total");
  group_ = {};
  wait(context, out);
}

}  // namespace troupe
