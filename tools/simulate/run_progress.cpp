#include "tools/simulate/run_progress.hpp"

#include <algorithm>
#include <cstdio>

#include "runtime/simulation/formatted.hpp"

namespace troupe {

namespace {

constexpr std::chrono::milliseconds kEvery(250);

/// Of the run that is over, 0 to 1; 0 if nothing tells.
double share_done(DrivenRun& run) {
  const TrafficReport& report = run.traffic().report();
  const TrafficPlan& plan = report.plan();
  double share = 0;
  if (plan.num_requests > 0) {
    share = static_cast<double>(report.total()) / static_cast<double>(plan.num_requests);
  }
  if (plan.duration > Duration()) {
    share = std::max(share, (run.world().now() - Time()).seconds() / plan.duration.seconds());
  }
  return std::min(share, 1.0);
}

}  // namespace

std::string progress_text(DrivenRun& run, double wall) {
  const TrafficReport& report = run.traffic().report();
  const double now = (run.world().now() - Time()).seconds();
  std::string text =
      formatted("%10.1f s virtual, %llu", now, static_cast<unsigned long long>(report.total()));
  const std::uint64_t planned = report.plan().num_requests;
  if (planned > 0) text += formatted(" of %llu", static_cast<unsigned long long>(planned));
  text += " requests";
  if (wall <= 0) return text;
  text += formatted(", %.1fx", now / wall);
  const double share = share_done(run);
  if (share <= 0) return text;
  return text + formatted(", %.0f %%, about %.0f s left", share * 100, wall / share - wall);
}

void RunProgress::show(DrivenRun& run) {
  if (!shown_) return;
  const auto now = Clock::now();
  if (now - last_ < kEvery) return;
  last_ = now;
  there_ = true;
  const double wall = std::chrono::duration<double>(now - begin_).count();
  std::fprintf(stderr, "\r\033[K%s", progress_text(run, wall).c_str());
  std::fflush(stderr);
}

void RunProgress::clear() {
  if (!there_) return;
  there_ = false;
  std::fputs("\r\033[K", stderr);
}

}  // namespace troupe
