// actor.observed_ns: what the counters of a live actor cost a message.
//
// One loop, with and without the counters: a message is made, handed to a core through the actor
// interface, and dropped. The difference is what `Observed` adds.
#include "runtime/actor/actor.hpp"
#include "runtime/actor/message_type.hpp"
#include "runtime/actor/observed.hpp"
#include "tests/bench/figure.hpp"

namespace troupe {
namespace {

struct Tick {
  static constexpr MessageInfo info{0x7401, "tick"};
  std::uint64_t number = 0;
  static void fields(auto& self, auto&& visit) { visit("number", self.number); }
};

struct Adder {
  using Accepts = Protocol<Tick>;
  struct Args {};
  static constexpr const char* kKind = "adder";
  explicit Adder(const Args&) {}
  void on(const Tick& tick, Context&, Effects&) { sum += tick.number; }
  std::uint64_t sum = 0;
};

template <bool kObserved>
double nanoseconds_a_message(std::uint64_t messages) {
  const ActorRef self{NodeId(1), 1, 1, 1};
  Observed observed(self, {}, "adder");
  Adder::Args args;
  const std::unique_ptr<Actor> actor = make_actor<Adder>(&args);
  Rng rng;
  std::uint64_t next_child = 0;
  Effects effects;
  const double start = bench::cpu_seconds();
  for (std::uint64_t i = 0; i < messages; ++i) {
    const Message message = make_message<Tick>(i);
    Context context{Time(0), self, {}, rng, next_child, message};
    if constexpr (kObserved) {
      observed.arrived();
      const std::uint64_t begin = Observed::ticks();
      actor->handle(message, context, effects);
      observed.handled(begin, Observed::ticks(), 0, actor->phase());
    } else {
      actor->handle(message, context, effects);
    }
  }
  return (bench::cpu_seconds() - start) * 1e9 / static_cast<double>(messages);
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  using namespace troupe;
  const bench::Arguments arguments = bench::parse(argc, argv);
  const std::uint64_t messages = arguments.quick ? 500'000 : 5'000'000;
  bench::Figure observed{"actor.observed_ns", "ns a message", 40, true, {}};
  nanoseconds_a_message<true>(messages / 4);
  for (int i = 0; i < 9; ++i) {
    const double without = nanoseconds_a_message<false>(messages);
    observed.samples.push_back(nanoseconds_a_message<true>(messages) - without);
  }
  return bench::report({observed}, arguments.json);
}
