// A device without hardware: completes launches after the time that a model names.
//
// Why: the simulated GPU and the scripted engine need streams, order, cancels and slots exactly as
// a real device, and nothing else of it. The model says what a launch takes and brings; this class
// keeps the streams. It has no thread: the completion is told at the launch, with its time, so that
// the same device works in virtual time and, delivered by a timer, in real time.
//
// Invariants: those of Device. A cancelled launch completes at the cancel, or as soon as those
// ahead of it on its stream have ended; launches behind it keep the times that they were told. One
// that holds many steps may end behind the step that runs, with what it has done (StepModel::cut).
// Ends on one stream are at least 1 ns apart.
//
// Threads: any, one at a time per call (a mutex keeps the books). The sink is called without it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "runtime/device/device.hpp"

namespace troupe {

/// What launches cost and bring. Called in launch order of each stream.
class StepModel {
 public:
  struct Outcome {
    Duration takes;
    Result<StepResult> result;
  };
  virtual ~StepModel() = default;
  virtual Outcome forward(const StepPlan& plan, Time start) = 0;
  virtual Outcome sample(const StepPlan& plan, Time start) = 0;
  /// The latest launch, which began at `start`, is to end as soon after `now` as it can: how long
  /// it then took in all, and what it brought. Nothing: it has no such place.
  virtual std::optional<Outcome> cut(Time /*start*/, Time /*now*/) { return std::nullopt; }
  /// A copy of this many bytes between host and device.
  virtual Duration copy(std::size_t bytes) = 0;
};

class ModelledDevice final : public Device {
 public:
  ModelledDevice(DeviceInfo info, std::unique_ptr<StepModel> model);

  const DeviceInfo& info() const override { return info_; }
  Result<StreamId> open_stream() override;
  void close_stream(StreamId stream) override;
  void launch(Launch launch, Time now, CompletionSink& sink) override;
  void cancel(LaunchId launch, Time now) override;
  std::span<std::byte> slot_memory(std::uint32_t slot) override;
  Status begin_capture(StreamId stream) override;
  Result<GraphId> end_capture(StreamId stream) override;

 private:
  struct Pending {
    LaunchId id;
    StreamId stream;
    std::uint32_t slot = 0;
    Time start;
    Time end;
    CompletionSink* sink;
  };
  StepModel::Outcome run(const Launch& launch, Time start);
  void forget_ended(Time now);
  /// Of a launch that is the latest on its stream: its earlier end, if it has one.
  std::optional<Result<StepResult>> cut(Pending& launch, Time now);

  Time* end_of(StreamId stream);
  std::vector<Pending>::iterator find(LaunchId launch);

  const DeviceInfo info_;
  std::unique_ptr<StepModel> model_;
  std::mutex mutex_;
  std::vector<std::pair<StreamId, Time>>
      free_at_;                   ///< open streams and when their last launch ends
  std::vector<Pending> pending_;  ///< in launch order
  std::vector<std::byte> slots_;
  std::uint32_t next_stream_ = 0;
};

}  // namespace troupe
