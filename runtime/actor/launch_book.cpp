#include "runtime/actor/launch_book.hpp"

namespace troupe {

LaunchId LaunchBook::open(Time deadline, Answer answer) {
  std::lock_guard lock(mutex_);
  const std::uint64_t launch = ++next_;
  Entry& entry = entries_[launch];
  entry.answer = std::move(answer);
  entry.watchdog = timers_->schedule(deadline, [this, launch] { hung(launch); });
  return LaunchId(launch);
}

void LaunchBook::orphan(LaunchId launch) {
  Answer dropped;  // destroyed outside of the lock
  std::lock_guard lock(mutex_);
  const auto place = entries_.find(launch.value);
  if (place == entries_.end()) return;
  dropped = std::move(place->second.answer);
  place->second.answer = nullptr;
  timers_->cancel(place->second.watchdog);
}

void LaunchBook::complete(LaunchId launch, Time at, Result<StepResult> result) {
  std::unique_lock lock(mutex_);
  const auto place = entries_.find(launch.value);
  if (place == entries_.end()) return;
  Entry& entry = place->second;
  timers_->cancel(entry.ending);
  // A modelled device's word always goes through the timers, also if it is due already: a late
  // timer of an earlier launch must not be overtaken.
  if (at == Time()) return finish(launch.value, std::move(lock), std::move(result));
  entry.result = std::move(result);
  entry.ending = timers_->schedule(at, [this, launch, at] { due(launch.value, at); });
}

void LaunchBook::due(std::uint64_t launch, const Time& at) {
  std::unique_lock lock(mutex_);
  const auto place = entries_.find(launch);
  // A later word of the device replaced this one after its callback had begun.
  if (place == entries_.end() || place->second.ending.at != at) return;
  Result<StepResult> result = std::move(*place->second.result);
  finish(launch, std::move(lock), std::move(result));
}

void LaunchBook::finish(std::uint64_t launch, std::unique_lock<std::mutex> lock,
                        Result<StepResult> result) {
  const auto place = entries_.find(launch);
  const Answer answer = std::move(place->second.answer);
  timers_->cancel(place->second.watchdog);
  entries_.erase(place);
  lock.unlock();
  if (answer) answer(std::move(result));
}

void LaunchBook::hung(std::uint64_t launch) {
  Answer answer;
  {
    std::lock_guard lock(mutex_);
    const auto place = entries_.find(launch);
    if (place == entries_.end()) return;
    answer = std::move(place->second.answer);
    place->second.answer = nullptr;
  }
  if (answer) answer(Error{Code::kHung, "the device did not answer in time"});
}

std::size_t LaunchBook::in_flight() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace troupe
