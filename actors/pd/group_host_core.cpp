#include "actors/pd/group_host_core.hpp"

namespace troupe {

namespace {
constexpr TimerTag kGroupUp{1, 0};
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
        using Args = std::decay_t<decltype(args)>;
        using Core = std::conditional_t<std::is_same_v<Args, PrefillEngineCore::Args>,
                                        PrefillEngineCore, DecodeInstanceCore>;
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
