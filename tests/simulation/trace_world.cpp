// trace_world SEED [heap|caf]: one line with the seed's trace hash and what was reached.
// trace_world --table: the lines of expected_hashes.txt, for all seeds.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/simulation/trace_scenario.hpp"
#if TROUPE_WITH_CAF
#include "runtime/actor/caf_world.hpp"
#endif

namespace {

troupe::MakeWorld driver(const std::string& name) {
#if TROUPE_WITH_CAF
  if (name == "caf") {
    return [](troupe::WorldOptions options) {
      return std::make_unique<troupe::CafWorld>(std::move(options));
    };
  }
#endif
  return name == "heap" ? troupe::MakeWorld(troupe::heap_world) : troupe::MakeWorld();
}

int print_table() {
  std::puts("# Trace hashes of tests/simulation/trace_scenario.cpp: seed, and what trace_world");
  std::puts("# prints. They change whenever a core, a message or the scenario does. Regenerate:");
  std::puts("#   build/release/bin/trace_world --table > tests/simulation/expected_hashes.txt");
  for (std::uint64_t seed = 1; seed <= troupe::kTraceSeeds; ++seed) {
    const auto result = troupe::run_trace(seed, troupe::heap_world);
    std::printf("%llu %s\n", static_cast<unsigned long long>(seed),
                troupe::to_string(result).c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--table") return print_table();
  const std::uint64_t seed = std::strtoull(first.c_str(), nullptr, 10);
  const troupe::MakeWorld make_world = driver(argc > 2 ? argv[2] : "heap");
  if (seed == 0 || !make_world) {
    std::fputs("usage: trace_world SEED [heap|caf] | --table\n", stderr);
    return 2;
  }
  std::puts(troupe::to_string(troupe::run_trace(seed, make_world)).c_str());
  return 0;
}
