// The CPU as a device: asynchronous streams on own threads.
//
// A stream is a thread with a queue. launch() returns at once; the thread waits for `after`, runs
// the launch on the engine and completes it. A cancel marks the launch: a queued one completes
// without running, a running one stops at the engine's next look. Copies move bytes between slot
// memory and the device's copy area, as they would over PCIe. Graphs are captured and replayed as
// lists of launches, so that callers of graphs can be tested without a GPU.
//
// Invariants: those of Device (device.hpp). A stream's queue holds at most kQueueMax launches.
//
// Threads: one a stream; the engine is called under one lock, since streams share it. Completions
// come from stream threads, outside of locks.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "runtime/device/device.hpp"
#include "runtime/device/step_engine.hpp"

namespace troupe {

class CpuDevice final : public Device {
 public:
  static constexpr std::size_t kQueueMax = 256;
  static constexpr std::size_t kCopyAreaBytes = 1u << 20;

  CpuDevice(DeviceInfo info, std::unique_ptr<StepEngine> engine);
  ~CpuDevice() override;

  const DeviceInfo& info() const override { return info_; }
  Result<StreamId> open_stream() override;
  void close_stream(StreamId stream) override;
  void launch(Launch launch, Time now, CompletionSink& sink) override;
  void cancel(LaunchId launch, Time now) override;
  std::span<std::byte> slot_memory(std::uint32_t slot) override;
  Status begin_capture(StreamId stream) override;
  Result<GraphId> end_capture(StreamId stream) override;

 private:
  struct Work {
    Launch launch;
    CompletionSink* sink = nullptr;
    std::atomic<bool> cancelled{false};
  };
  struct Stream {
    std::deque<std::shared_ptr<Work>> queue;  ///< the front one may be running
    std::condition_variable wake;
    std::thread thread;
    bool closing = false;
    bool capturing = false;
    std::vector<Launch> captured;
  };

  void run_stream(Stream& stream);
  Result<StepResult> run(const Launch& launch, const std::atomic<bool>& cancelled);
  Result<StepResult> run_copy(const Launch& launch);
  Result<StepResult> run_graph(GraphId graph, const std::atomic<bool>& cancelled);
  bool all_ended(const std::vector<LaunchId>& launches) const;

  const DeviceInfo info_;
  std::unique_ptr<StepEngine> engine_;
  std::mutex engine_mutex_;

  std::mutex mutex_;  ///< guards everything below
  std::condition_variable ended_;
  std::map<StreamId, std::unique_ptr<Stream>> streams_;
  std::set<LaunchId> unfinished_;
  std::map<GraphId, std::vector<Launch>> graphs_;
  std::uint32_t next_stream_ = 0;
  std::uint32_t next_graph_ = 0;
  std::vector<std::byte> slots_;
  std::vector<std::byte> copy_area_;
};

}  // namespace troupe
