#include "tests/runtime/actor/caf/toys.hpp"

namespace troupe::toys {

namespace {

void sleep_ms(std::uint64_t n) {
  std::this_thread::sleep_for(std::chrono::milliseconds(n));
}

void compute(const Act& act, Context& context, Effects& out) {
  auto job = [ms = act.number]() -> Result<Told> {
    if (ms == 666) throw std::runtime_error("the job throws");
    sleep_ms(ms);
    return Told{"computed", 0, {}};
  };
  const JobLength length = act.what == kBrief ? JobLength::kBrief : JobLength::kAny;
  out.compute(OpId(act.number), make_job<Told>(job, milliseconds(1), length),
              context.now + milliseconds(50));
}

void launch(const Act& act, Context& context, Effects& out) {
  effect::LaunchStep step;
  step.op = OpId(act.number);
  step.kind = LaunchKind::kForward;
  step.slot = 0;
  step.deadline = context.now + milliseconds(100);
  out.launch(std::move(step));
}

}  // namespace

void Toy::on(const Act& act, Context& context, Effects& out) {
  ++turns_;
  switch (act.what) {
    case kEcho:
      return out.send(context.from, make_message<Told>("echo", act.number, context.self));
    case kForward:
      return out.send(act.ref, make_message<Act>(std::uint64_t{kEcho}, act.number, ActorRef{}));
    case kWatch:
      return out.watch(act.ref);
    case kUnwatch:
      return out.unwatch(act.ref);
    case kCrash:
      tell(out, "never");
      TROUPE_ASSERT(false, "crash on purpose");
    case kStop:
      for (std::uint64_t i = 0; i < act.number; ++i) tell(out, "farewell", i);
      return out.stop("asked to");
    case kSpawn:
      children_.push_back(context.spawn<Toy>(out, {args_.boss, act.number == 1}));
      return tell(out, "spawned", 0, children_.back());
    case kRespawn:
      children_.back() = context.respawn<Toy>(out, children_.back(), {args_.boss});
      return tell(out, "respawned", 0, children_.back());
    case kEndChild:
      return out.end_child(children_.back());
    case kTimer:
      return out.timer({1, act.number},
                       context.now + milliseconds(static_cast<std::int64_t>(act.number)));
    case kTwoTimers:
      out.timer({2, 1}, context.now);
      return out.timer({2, 1}, context.now + milliseconds(30));
    case kLateTimer:
      return out.timer({3, act.number}, context.now + milliseconds(50));
    case kLateCancel:
      sleep_ms(100);
      return out.cancel_timer({3, act.number});
    case kBlock:
      return sleep_ms(act.number);
    case kLaunch:
      return launch(act, context, out);
    case kCancelOp:
      return out.cancel(OpId(act.number));
    case kCompute:
    case kBrief:
      return compute(act, context, out);
    case kRandom:
      return tell(out, "random", context.rng.next());
    default:
      return;
  }
}

}  // namespace troupe::toys
