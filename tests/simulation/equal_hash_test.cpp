// The same seed gives the same trace: over time, actor, message kind and payload digest; in both
// drivers, in another process, in another build.
#include <array>
#include <cstdlib>
#include <fstream>

#include "tests/simulation/cluster.hpp"
#include "tests/simulation/trace_scenario.hpp"
#if TROUPE_WITH_CAF
#include "runtime/actor/caf_world.hpp"
#endif

namespace troupe {
namespace {

/// The runs of the heap driver, made once for all tests of this process.
const std::vector<TraceResult>& heap_runs() {
  static const std::vector<TraceResult> runs = [] {
    std::vector<TraceResult> all;
    for (std::uint64_t seed = 1; seed <= kTraceSeeds; ++seed) {
      all.push_back(run_trace(seed, heap_world));
    }
    return all;
  }();
  return runs;
}

/// The line that a trace_world program prints, without its end.
std::string output_of(const std::string& program, std::uint64_t seed, const char* driver) {
  const std::string command = "'" + program + "' " + std::to_string(seed) + " " + driver;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot run " + command;
  std::array<char, 512> line{};
  if (std::fgets(line.data(), line.size(), pipe) == nullptr) line[0] = '\0';
  pclose(pipe);
  std::string text(line.data());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

TEST(EqualHash, TheRunsReachEveryFault) {
  TraceResult sum;
  for (const TraceResult& run : heap_runs()) {
    sum.requests += run.requests, sum.ok += run.ok, sum.kills += run.kills;
    sum.cancels += run.cancels, sum.timeouts += run.timeouts, sum.deadlines += run.deadlines;
    sum.drops += run.drops, sum.preemptions += run.preemptions;
    EXPECT_GT(run.kills, 0u);
    EXPECT_GT(run.cancels, 0u);
    EXPECT_GT(run.drops, 0u);
    EXPECT_GT(run.preemptions, 0u);
    EXPECT_TRUE(run.broken_rules.empty()) << run.broken_rules.front();
  }
  EXPECT_GE(sum.requests, 10'000u);
  EXPECT_GE(sum.ok, 2'000u);
  EXPECT_GE(sum.kills, 50u);
  EXPECT_GE(sum.cancels, 500u);
  EXPECT_GE(sum.timeouts, 10u);
  EXPECT_GE(sum.deadlines, 10u);
  EXPECT_GE(sum.drops, 100u);
  EXPECT_GE(sum.preemptions, 50u);
}

TEST(EqualHash, SeedsDiffer) {
  for (std::size_t i = 1; i < heap_runs().size(); ++i) {
    EXPECT_NE(heap_runs()[i].hash, heap_runs()[0].hash);
  }
}

#if TROUPE_WITH_CAF
TEST(EqualHash, HostingInCafChangesNothing) {
  for (std::uint64_t seed = 1; seed <= kTraceSeeds; ++seed) {
    const TraceResult hosted = run_trace(
        seed, [](WorldOptions options) { return std::make_unique<CafWorld>(std::move(options)); });
    EXPECT_EQ(to_string(hosted), to_string(heap_runs()[seed - 1])) << "seed " << seed;
  }
}
#endif

TEST(EqualHash, AnotherProcessGivesTheSame) {
  for (std::uint64_t seed = 1; seed <= kTraceSeeds; ++seed) {
    EXPECT_EQ(output_of(TRACE_WORLD, seed, "heap"), to_string(heap_runs()[seed - 1]));
  }
#if TROUPE_WITH_CAF
  EXPECT_EQ(output_of(TRACE_WORLD, 4, "caf"), to_string(heap_runs()[3]));
#endif
}

// GCC's release build, and clang's with sanitizers, with CAF and without it.
TEST(EqualHash, EveryBuildGivesThePinnedTable) {
  const char* source = std::getenv("TROUPE_SOURCE");
  ASSERT_NE(source, nullptr);
  std::ifstream table(std::string(source) + "/tests/simulation/expected_hashes.txt");
  std::string line;
  std::size_t rows = 0;
  while (std::getline(table, line)) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.find(' ');
    const std::size_t seed = std::stoul(line.substr(0, space));
    ASSERT_TRUE(seed >= 1 && seed <= kTraceSeeds);
    EXPECT_EQ(to_string(heap_runs()[seed - 1]), line.substr(space + 1)) << "seed " << seed;
    ++rows;
  }
  EXPECT_EQ(rows, kTraceSeeds);
}

}  // namespace
}  // namespace troupe
