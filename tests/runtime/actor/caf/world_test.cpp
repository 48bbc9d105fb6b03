// The two drivers of the virtual world agree.
#include <gtest/gtest.h>

#include "runtime/actor/caf_world.hpp"
#include "tests/runtime/actor/caf/toys.hpp"
#include "tests/runtime/actor/caf/world_toy.hpp"

namespace troupe {
namespace {

using namespace toys;

struct Outcome {
  std::uint64_t hash;
  std::uint64_t events;
  std::size_t actors;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

template <class Driver>
Outcome play(std::uint64_t seed, bool explore) {
  WorldOptions options;
  options.seed = seed;
  options.explore_ties = explore;
  Driver world(options);
  fill(world, seed);
  world.run_until(Time(30'000'000));
  return {world.trace_hash(), world.events(), world.actor_count()};
}

TEST(CafWorldTest, TraceHashesAgreeWithTheHeapDriver) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (const bool explore : {false, true}) {
      const Outcome heap = play<World>(seed, explore);
      const Outcome hosted = play<CafWorld>(seed, explore);
      EXPECT_EQ(heap, hosted) << "seed " << seed << (explore ? ", ties explored" : "");
      EXPECT_GT(heap.events, 2'000u);
      EXPECT_GT(heap.actors, 0u);
    }
  }
  EXPECT_NE(play<World>(1, false).hash, play<World>(2, false).hash);
  EXPECT_NE(play<World>(1, false).hash, play<World>(1, true).hash);
}

TEST(CafWorldTest, ConstructionAndDestructionEndWithAnythingAlive) {
  const std::size_t threads = thread_count();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    WorldOptions options;
    options.seed = seed;
    CafWorld world(options);
    if (seed == 1) continue;
    fill(world, seed);
    if (seed == 2) continue;
    world.run_until(Time(static_cast<std::int64_t>(seed) * 700'000));
    EXPECT_GT(world.pending(), 0u);
  }
  // Fewer: a thread that another test left behind has ended meanwhile.
  EXPECT_TRUE(eventually([&] { return thread_count() <= threads; })) << thread_count();
}

}  // namespace
}  // namespace troupe
