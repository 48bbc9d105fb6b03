#include "runtime/device/modelled_device.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"

namespace troupe {

namespace {
/// What any launch takes at least: ends on a stream differ, so that nothing that orders events by
/// time (a world that explores ties) can swap them.
constexpr Duration kLeast = nanoseconds(1);
}  // namespace

ModelledDevice::ModelledDevice(DeviceInfo info, std::unique_ptr<StepModel> model)
    : info_(std::move(info)),
      model_(std::move(model)),
      slots_(std::size_t{info_.slot_count} * info_.slot_bytes) {}

Result<StreamId> ModelledDevice::open_stream() {
  const std::lock_guard lock(mutex_);
  const StreamId stream(next_stream_++);
  free_at_.emplace_back(stream, Time());
  return stream;
}

void ModelledDevice::close_stream(StreamId stream) {
  const std::lock_guard lock(mutex_);
  std::erase_if(free_at_, [&](const auto& open) { return open.first == stream; });
  std::erase_if(pending_, [&](const Pending& one) { return one.stream == stream; });
}

Time* ModelledDevice::end_of(StreamId stream) {
  const auto at = std::find_if(free_at_.begin(), free_at_.end(),
                               [&](const auto& open) { return open.first == stream; });
  return at == free_at_.end() ? nullptr : &at->second;
}

std::vector<ModelledDevice::Pending>::iterator ModelledDevice::find(LaunchId launch) {
  return std::find_if(pending_.begin(), pending_.end(),
                      [&](const Pending& one) { return one.id == launch; });
}

StepModel::Outcome ModelledDevice::run(const Launch& launch, Time start) {
  switch (launch.kind) {
    case LaunchKind::kForward:
      return model_->forward(*launch.plan, start);
    case LaunchKind::kSample:
      return model_->sample(*launch.plan, start);
    case LaunchKind::kCopyToDevice:
    case LaunchKind::kCopyToHost:
      return {model_->copy(launch.copy.length), StepResult{}};
    case LaunchKind::kGraph:
      break;
  }
  return {Duration(), Error{Code::kUnsupported, "a modelled device has no graphs"}};
}

void ModelledDevice::launch(Launch launch, Time now, CompletionSink& sink) {
  TROUPE_ASSERT(launch.slot < info_.slot_count, "a launch names one of the device's slots");
  std::unique_lock lock(mutex_);
  forget_ended(now);
  Time* const free = end_of(launch.stream);
  TROUPE_ASSERT(free != nullptr, "a launch needs an open stream");
  Time start = std::max(now, *free);
  for (const LaunchId earlier : launch.after) {
    const auto at = find(earlier);
    if (at != pending_.end()) start = std::max(start, at->end);
  }
  StepModel::Outcome outcome = run(launch, start);
  if (outcome.result.ok()) {
    outcome.result->slot = launch.slot;
    outcome.result->device_time = outcome.takes;
  }
  const Time end = start + std::max(outcome.takes, kLeast);
  *free = end;
  pending_.push_back({launch.id, launch.stream, launch.slot, start, end, &sink});
  lock.unlock();
  sink.complete(launch.id, end, std::move(outcome.result));
}

void ModelledDevice::forget_ended(Time now) {
  // Strictly before: a launch that ends right now may still be cancelled or waited for.
  std::erase_if(pending_, [&](const Pending& one) { return one.end < now; });
}

std::optional<Result<StepResult>> ModelledDevice::cut(Pending& launch, Time now) {
  Time& free = *end_of(launch.stream);
  if (free != launch.end) return std::nullopt;
  auto outcome = model_->cut(launch.start, now);
  if (!outcome) return std::nullopt;
  if (outcome->result.ok()) {
    outcome->result->slot = launch.slot;
    outcome->result->device_time = outcome->takes;
  }
  launch.end = free = std::max(launch.start + outcome->takes, now + kLeast);
  return std::move(outcome->result);
}

void ModelledDevice::cancel(LaunchId launch, Time now) {
  std::unique_lock lock(mutex_);
  const auto at = find(launch);
  if (at == pending_.end() || at->end <= now) return;
  if (auto earlier = cut(*at, now)) {
    const Pending ended = *at;
    lock.unlock();
    return ended.sink->complete(launch, ended.end, std::move(*earlier));
  }
  // Launches of a stream end in order, cancelled ones as well: not before those ahead of it.
  Time end = now + kLeast;
  for (auto earlier = pending_.begin(); earlier != at; ++earlier) {
    if (earlier->stream == at->stream) end = std::max(end, earlier->end + kLeast);
  }
  if (end >= at->end) return;
  at->end = end;
  CompletionSink* sink = at->sink;
  lock.unlock();
  sink->complete(launch, end, Error{Code::kCancelled, "cancelled"});
}

std::span<std::byte> ModelledDevice::slot_memory(std::uint32_t slot) {
  TROUPE_ASSERT(slot < info_.slot_count, "a slot of the ring");
  return std::span(slots_).subspan(std::size_t{slot} * info_.slot_bytes, info_.slot_bytes);
}

Status ModelledDevice::begin_capture(StreamId) {
  return Error{Code::kUnsupported, "a modelled device has no graphs"};
}

Result<GraphId> ModelledDevice::end_capture(StreamId) {
  return Error{Code::kUnsupported, "a modelled device has no graphs"};
}

}  // namespace troupe
