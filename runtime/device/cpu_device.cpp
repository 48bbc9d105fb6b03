#include "runtime/device/cpu_device.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

#include "runtime/base/assert.hpp"

namespace troupe {

namespace {

Error cancelled_error() {
  return {Code::kCancelled, "cancelled"};
}

}  // namespace

CpuDevice::CpuDevice(DeviceInfo info, std::unique_ptr<StepEngine> engine)
    : info_(std::move(info)),
      engine_(std::move(engine)),
      slots_(std::size_t{info_.slot_count} * info_.slot_bytes),
      copy_area_(kCopyAreaBytes) {}

CpuDevice::~CpuDevice() {
  std::vector<StreamId> open;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, stream] : streams_) open.push_back(id);
  }
  for (const StreamId stream : open) close_stream(stream);
}

Result<StreamId> CpuDevice::open_stream() {
  const std::lock_guard lock(mutex_);
  const StreamId id(next_stream_++);
  auto stream = std::make_unique<Stream>();
  stream->thread = std::thread([this, raw = stream.get()] { run_stream(*raw); });
  streams_.emplace(id, std::move(stream));
  return id;
}

void CpuDevice::close_stream(StreamId id) {
  std::unique_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    const auto at = streams_.find(id);
    if (at == streams_.end()) return;
    stream = std::move(at->second);
    streams_.erase(at);
    stream->closing = true;
    for (const auto& work : stream->queue) work->cancelled = true;
    stream->wake.notify_all();
    ended_.notify_all();
  }
  stream->thread.join();
}

void CpuDevice::launch(Launch launch, Time, CompletionSink& sink) {
  TROUPE_ASSERT(launch.slot < info_.slot_count, "a launch names one of the device's slots");
  auto work = std::make_shared<Work>();
  work->sink = &sink;
  const LaunchId id = launch.id;
  {
    const std::lock_guard lock(mutex_);
    const auto at = streams_.find(launch.stream);
    TROUPE_ASSERT(at != streams_.end(), "a launch needs an open stream");
    Stream& stream = *at->second;
    if (stream.capturing) return stream.captured.push_back(std::move(launch));
    if (stream.queue.size() < kQueueMax) {
      work->launch = std::move(launch);
      unfinished_.insert(id);
      stream.queue.push_back(std::move(work));
      stream.wake.notify_one();
      return;
    }
  }
  sink.complete(id, Time(), Error{Code::kUnavailable, "the stream's queue is full"});
}

void CpuDevice::cancel(LaunchId launch, Time) {
  const std::lock_guard lock(mutex_);
  for (auto& [id, stream] : streams_) {
    for (const auto& work : stream->queue) {
      if (work->launch.id == launch) work->cancelled = true;
    }
  }
  ended_.notify_all();  // it may be waiting for other launches
}

bool CpuDevice::all_ended(const std::vector<LaunchId>& launches) const {
  return std::none_of(launches.begin(), launches.end(),
                      [&](LaunchId id) { return unfinished_.contains(id); });
}

void CpuDevice::run_stream(Stream& stream) {
  std::unique_lock lock(mutex_);
  for (;;) {
    stream.wake.wait(lock, [&] { return stream.closing || !stream.queue.empty(); });
    if (stream.queue.empty()) return;
    const std::shared_ptr<Work> work = stream.queue.front();
    ended_.wait(lock, [&] { return work->cancelled || all_ended(work->launch.after); });
    lock.unlock();
    const auto start = std::chrono::steady_clock::now();
    Result<StepResult> result = work->cancelled ? Result<StepResult>(cancelled_error())
                                                : run(work->launch, work->cancelled);
    if (result.ok()) {
      const auto took = std::chrono::steady_clock::now() - start;
      result->slot = work->launch.slot;
      result->device_time =
          Duration(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
    }
    // Told first, marked ended second: whoever waits for it on another stream completes later.
    work->sink->complete(work->launch.id, Time(), std::move(result));
    lock.lock();
    stream.queue.pop_front();
    unfinished_.erase(work->launch.id);
    ended_.notify_all();
  }
}

Result<StepResult> CpuDevice::run(const Launch& launch, const std::atomic<bool>& cancelled) {
  try {
    switch (launch.kind) {
      case LaunchKind::kForward: {
        const std::lock_guard lock(engine_mutex_);
        TROUPE_TRY(engine_->forward(*launch.plan, cancelled));
        StepResult result;
        result.step = launch.plan->step;
        return result;
      }
      case LaunchKind::kSample: {
        const std::lock_guard lock(engine_mutex_);
        return engine_->sample(*launch.plan, cancelled);
      }
      case LaunchKind::kCopyToDevice:
      case LaunchKind::kCopyToHost:
        return run_copy(launch);
      case LaunchKind::kGraph:
        return run_graph(launch.graph, cancelled);
    }
  } catch (const std::exception& failure) {
    return Error{Code::kInternal, failure.what()};
  }
  return Error{Code::kUnsupported, "an unknown kind of launch"};
}

Result<StepResult> CpuDevice::run_copy(const Launch& launch) {
  const CopyRange& copy = launch.copy;
  const auto slot = slot_memory(copy.slot);
  if (copy.slot_offset > slot.size() || copy.length > slot.size() - copy.slot_offset ||
      copy.device_offset > copy_area_.size() ||
      copy.length > copy_area_.size() - copy.device_offset) {
    return Error{Code::kInvalid, "a copy reaches beyond its slot or the copy area"};
  }
  std::byte* host = slot.data() + copy.slot_offset;
  std::byte* device = copy_area_.data() + copy.device_offset;
  if (launch.kind == LaunchKind::kCopyToDevice) {
    std::memcpy(device, host, copy.length);
  } else {
    std::memcpy(host, device, copy.length);
  }
  return StepResult{};
}

Result<StepResult> CpuDevice::run_graph(GraphId graph, const std::atomic<bool>& cancelled) {
  std::vector<Launch> launches;
  {
    const std::lock_guard lock(mutex_);
    const auto at = graphs_.find(graph);
    if (at == graphs_.end()) return Error{Code::kNotFound, "no such graph"};
    launches = at->second;
  }
  StepResult last;
  for (const auto& launch : launches) {
    if (cancelled) return cancelled_error();
    TROUPE_TRY_ASSIGN(last, run(launch, cancelled));
  }
  return last;
}

std::span<std::byte> CpuDevice::slot_memory(std::uint32_t slot) {
  TROUPE_ASSERT(slot < info_.slot_count, "a slot of the ring");
  return std::span(slots_).subspan(std::size_t{slot} * info_.slot_bytes, info_.slot_bytes);
}

Status CpuDevice::begin_capture(StreamId id) {
  const std::lock_guard lock(mutex_);
  const auto at = streams_.find(id);
  if (at == streams_.end()) return Error{Code::kNotFound, "no such stream"};
  if (at->second->capturing) return Error{Code::kInvalid, "the stream captures already"};
  at->second->capturing = true;
  return ok_status();
}

Result<GraphId> CpuDevice::end_capture(StreamId id) {
  const std::lock_guard lock(mutex_);
  const auto at = streams_.find(id);
  if (at == streams_.end() || !at->second->capturing) {
    return Error{Code::kInvalid, "the stream does not capture"};
  }
  at->second->capturing = false;
  const GraphId graph(next_graph_++);
  graphs_.emplace(graph, std::move(at->second->captured));
  at->second->captured.clear();
  return graph;
}

}  // namespace troupe
