#include "runtime/simulation/fault_schedule.hpp"

#include <algorithm>

namespace troupe {

namespace {
/// Of a fault that ends with the run.
constexpr Duration kEndless = seconds(1'000'000'000);
/// Before that a group is not there yet, and nothing could be killed.
constexpr Duration kGroupsStand = microseconds(10);
}  // namespace

FaultSchedule::FaultSchedule(const ClusterFaults& faults, const FaultTargets& targets,
                             std::uint64_t seed)
    : faults_(faults), targets_(targets) {
  for (std::uint32_t i = 0; i < faults_.size(); ++i) {
    rngs_.emplace_back(mix64(mix64(seed, 0xfa17), i + 1));
    schedule(i, Time());
  }
}

void FaultSchedule::schedule(std::uint32_t index, Time after) {
  const ClusterFault& fault = faults_[index];
  Time at = std::max(after, Time() + fault.at);
  if (fault.act == FaultAct::kKill) at = std::max(at, Time() + kGroupsStand);
  if (fault.every) {
    at = at + from_seconds(rngs_[index].exponential(fault.every->seconds())) + nanoseconds(1);
    if (fault.until && at > Time() + *fault.until) return;
  }
  moments_.emplace(at, Moment{index, 0, true, at});
}

std::optional<Time> FaultSchedule::next() const {
  if (moments_.empty()) return std::nullopt;
  return moments_.begin()->first;
}

FaultSchedule::Moment FaultSchedule::take() {
  const auto first = moments_.begin();
  const Time at = first->first;
  Moment moment = first->second;
  moments_.erase(first);
  if (!moment.begins) return moment;
  const ClusterFault& fault = faults_[moment.fault];
  moment.which = fault.which
                     ? *fault.which
                     : static_cast<std::uint32_t>(rngs_[moment.fault].below(targets_.of(fault)));
  const bool kill = fault.act == FaultAct::kKill || fault.act == FaultAct::kKillService;
  if (!kill) moment.until = at + fault.lasts.value_or(kEndless);
  if (fault.lasts) {
    moments_.emplace(moment.until, Moment{moment.fault, moment.which, false, moment.until});
  }
  if (fault.every) schedule(moment.fault, at);
  return moment;
}

void FaultSchedule::stop() {
  std::erase_if(moments_, [](const auto& one) { return one.second.begins; });
}

}  // namespace troupe
