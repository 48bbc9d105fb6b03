// Supervision under load, many short lives, and a shutdown that always ends.
#include "tests/runtime/actor/caf/toy_device.hpp"
#include "tests/runtime/actor/caf/toys.hpp"

namespace troupe {
namespace {

using namespace toys;

SystemOptions stop_options() {
  SystemOptions made;
  made.node = NodeId(1);
  return made;
}

/// Restarts a child that crashes, with back-off.
struct Keeper {
  using Accepts = Protocol<Started, Down, TimerFired, Drain>;
  struct Args {
    ActorRef boss;
  };
  static constexpr const char* kKind = "keeper";
  explicit Keeper(const Args& args) : args_(args) {}

  void on(const Started&, Context& context, Effects& out) {
    child_ = context.spawn<Toy>(out, {args_.boss});
    rule_.started(context.now);
  }
  void on(const Down&, Context& context, Effects& out) {
    const auto delay = rule_.delay_after_crash(context.now);
    if (!delay) return out.stop("gave up");
    out.timer({1, 0}, context.now + *delay);
  }
  void on(const TimerFired&, Context& context, Effects& out) {
    child_ = context.respawn<Toy>(out, child_, {args_.boss});
    rule_.started(context.now);
  }
  void on(const Drain&, Context&, Effects& out) { out.stop("drained"); }

  Args args_;
  ActorRef child_;
  Supervisor rule_{{milliseconds(2), milliseconds(20), seconds(60), 4}};
};

TEST(Supervision, AParentRestartsItsChildWithBackOffAndGivesUp) {
  System system(stop_options());
  Inbox boss(system);
  const ActorRef keeper = system.spawn_root<Keeper>(1, {boss.ref()});
  for (std::uint32_t life = 1; life <= 5; ++life) {
    const auto started = boss.wait<Told>(life - 1);
    ASSERT_TRUE(started.has_value());
    EXPECT_EQ(started->number, life) << "the same id, one life more";
    system.send({}, started->ref,
                make_message<Act>(std::uint64_t{kCrash}, std::uint64_t{0}, ActorRef{}));
  }
  EXPECT_TRUE(eventually([&] { return !system.alive(keeper); }));
}

TEST(ShortLives, TenThousandLeaveNothingBehind) {
  System system(stop_options());
  Inbox boss(system);
  const ActorRef parent = system.spawn_root<Toy>(1, {boss.ref()});
  for (int i = 0; i < 10'000; ++i) {
    system.send({}, parent, make_message<Act>(std::uint64_t{kSpawn}, std::uint64_t{0}, ActorRef{}));
    system.send({}, parent,
                make_message<Act>(std::uint64_t{kEndChild}, std::uint64_t{0}, ActorRef{}));
  }
  // Of each child: spawned and down, and started unless its end came first.
  EXPECT_TRUE(eventually([&] { return boss.count<Told>() >= 20'001; }));
  EXPECT_TRUE(eventually([&] { return system.actor_count() == 2; }));
  EXPECT_EQ(system.list().size(), 2u);
}

/// Calls itself through timers, children, jobs and launches until it is ended.
struct Busy {
  using Accepts = Protocol<Started, Down, TimerFired, Undeliverable, Done<Told>, Done<StepResult>>;
  struct Args {
    std::uint32_t depth = 0;
    ActorRef sink;
  };
  static constexpr const char* kKind = "busy";
  explicit Busy(const Args& args) : args_(args) {}

  void on(const Started&, Context& context, Effects& out) { work(context, out); }
  void on(const Down&, Context& context, Effects& out) { work(context, out); }
  void on(const Undeliverable&, Context&, Effects&) {}
  void on(const TimerFired&, Context& context, Effects& out) { work(context, out); }
  void on(const Done<Told>&, Context&, Effects&) {}
  void on(const Done<StepResult>&, Context&, Effects&) {}

  void work(Context& context, Effects& out) {
    out.timer({1, context.rng.below(4)},
              context.now + microseconds(static_cast<std::int64_t>(context.rng.below(2000))));
    out.send(args_.sink, make_message<Told>());
    if (args_.depth < 3 && context.rng.chance(0.3)) {
      out.watch(context.spawn<Busy>(out, {args_.depth + 1, args_.sink}));
    }
    if (context.rng.chance(0.2)) {
      out.compute(OpId(++op_), make_job<Told>([]() -> Result<Told> { return Told{}; }, Duration(1)),
                  context.now + milliseconds(5));
    }
    if (context.rng.chance(0.2)) {
      effect::LaunchStep step;
      step.op = OpId(++op_);
      step.deadline = context.now + milliseconds(10);
      out.launch(step);
      if (context.rng.chance(0.5)) out.cancel(step.op);
    }
    if (args_.depth > 0 && context.rng.chance(0.1)) TROUPE_ASSERT(false, "crash on purpose");
    if (args_.depth > 0 && context.rng.chance(0.1)) out.stop();
  }

  Args args_;
  std::uint64_t op_ = 0;
};

TEST(Shutdown, EndsAtFiftyRandomMomentsUnderLoad) {
  { System warm(stop_options()); }
  const std::size_t threads_before = thread_count();
  Rng rng(20240613);
  for (int round = 0; round < 50; ++round) {
    ToyDevice device;
    device.set_mode(ToyDevice::Mode::kModelled);
    SystemOptions made = stop_options();
    made.devices = {&device};
    made.seed = static_cast<std::uint64_t>(round);
    System system(made);
    Inbox sink(system);
    for (std::uint64_t i = 0; i < 8; ++i) system.spawn_root<Busy>(i + 1, {0, sink.ref()});
    system.spawn_root<Toy>(100, {sink.ref()});
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(30'000)));
    const Time start = system.now();
    const Status ended = system.shutdown(milliseconds(20), seconds(5));
    EXPECT_TRUE(ended.ok()) << "round " << round << ": " << to_string(ended.error());
    EXPECT_LT(system.now() - start, milliseconds(2000)) << "round " << round;
    EXPECT_EQ(system.actor_count(), 0u);
    EXPECT_EQ(system.in_flight_launches(), 0u);
    EXPECT_TRUE(system.shutdown(Duration(0), Duration(0)).ok()) << "idempotent";
  }
  // A joined thread leaves /proc a moment later, so that the count before may be one too high.
  EXPECT_TRUE(eventually([&] { return thread_count() <= threads_before; }));
}

TEST(Shutdown, DrainIsAskedOfRootsAndNothingStartsAfterwards) {
  System system(stop_options());
  Inbox boss(system);
  const ActorRef polite = system.spawn_root<Toy>(1, {boss.ref()});
  const ActorRef stubborn = system.spawn_root<Toy>(2, {boss.ref(), false, false});
  system.watch(boss.ref(), polite);
  system.watch(boss.ref(), stubborn);
  const Time start = system.now();
  EXPECT_TRUE(system.shutdown(milliseconds(100), seconds(5)).ok());
  EXPECT_GE(system.now() - start, milliseconds(100)) << "the stubborn one was waited for";
  EXPECT_EQ(boss.wait<Down>(0)->ref, polite);
  EXPECT_FALSE(system.alive(system.spawn_root<Toy>(3, {boss.ref()})));
  system.send({}, polite, make_message<Act>());
}

TEST(Shutdown, AHandlerThatDoesNotReturnIsNamed) {
  auto release = std::make_shared<std::atomic<bool>>(false);
  const Time start = monotonic_now();
  {
    System system(stop_options());
    const ActorRef stuck = system.open_endpoint([release](const Envelope&) {
      while (!release->load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    system.send({}, stuck, make_message<Act>());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const Status ended = system.shutdown(Duration(0), milliseconds(100));
    ASSERT_FALSE(ended.ok());
    EXPECT_EQ(ended.error().code, Code::kHung);
    EXPECT_NE(ended.error().message.find("endpoint"), std::string::npos);
    release->store(true);
    EXPECT_TRUE(system.shutdown(Duration(0), seconds(5)).ok()) << "another call tries again";
  }
  EXPECT_LT(monotonic_now() - start, seconds(3));
}

}  // namespace
}  // namespace troupe
