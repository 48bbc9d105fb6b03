// Figures: what a benchmark program measures, against a target, as a table or as JSON.
//
// `--json` prints {"figures":[{"name","value","unit","target","holds","min","median","max"}]};
// `--quick` asks for a run of about a second. Times are the thread's own CPU time, so that other
// work on the machine disturbs a ratio little.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::bench {

struct Arguments {
  bool json = false;
  bool quick = false;
};

inline Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    arguments.json |= std::string_view(argv[i]) == "--json";
    arguments.quick |= std::string_view(argv[i]) == "--quick";
  }
  return arguments;
}

/// CPU seconds of the calling thread.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Figure {
  std::string name;
  std::string unit;
  double target;
  bool at_most;  ///< the value must not be above the target; else not below
  std::vector<double> samples;
};

/// Prints the figures; the value of each is its median. Returns the exit status: 0.
inline int report(std::vector<Figure> figures, bool json) {
  if (json) std::printf("{\"figures\":[");
  for (std::size_t i = 0; i < figures.size(); ++i) {
    Figure& figure = figures[i];
    std::sort(figure.samples.begin(), figure.samples.end());
    const double median = figure.samples[figure.samples.size() / 2];
    const bool holds = figure.at_most ? median <= figure.target : median >= figure.target;
    if (json) {
      std::printf(
          "%s{\"name\":\"%s\",\"value\":%.4g,\"unit\":\"%s\",\"target\":%.4g,"
          "\"at_most\":%s,\"holds\":%s,\"min\":%.4g,\"median\":%.4g,\"max\":%.4g}",
          i == 0 ? "" : ",", figure.name.c_str(), median, figure.unit.c_str(), figure.target,
          figure.at_most ? "true" : "false", holds ? "true" : "false", figure.samples.front(),
          median, figure.samples.back());
    } else {
      std::printf("%-22s %10.4g %-14s target %s %-8.4g %-5s (%.4g … %.4g)\n", figure.name.c_str(),
                  median, figure.unit.c_str(), figure.at_most ? "<=" : ">=", figure.target,
                  holds ? "holds" : "FAILS", figure.samples.front(), figure.samples.back());
    }
  }
  if (json) std::printf("]}\n");
  return 0;
}

}  // namespace troupe::bench
