#include "tools/simulate/run_recorder.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

double RunRecorder::share(double part, double whole) {
  return whole > 0 ? part / whole : std::nan("");
}

double RunRecorder::growth(double now, double before) {
  return std::max(0.0, now - before);
}

double RunRecorder::busy(const GroupUse& now, const GroupUse& before, double gpu_seconds) {
  return share(growth(now.busy, before.busy), gpu_seconds);
}

double RunRecorder::waited(const GroupUse& now, const GroupUse& before, double gpu_seconds) {
  return share(growth(now.busy - now.own, before.busy - before.own), gpu_seconds);
}

std::vector<double> RunRecorder::take_first_tokens() {
  const Histogram first = timelines_.take_first_tokens();
  if (first.count() == 0) return {std::nan(""), std::nan("")};
  return {first.percentile(50) * 1e3, first.percentile(99) * 1e3};
}

}  // namespace troupe
