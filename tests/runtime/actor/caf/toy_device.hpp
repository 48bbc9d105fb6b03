// A device without work: it only ends launches, in the ways that devices do.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/device/device.hpp"

namespace troupe::toys {

class ToyDevice final : public Device {
 public:
  enum class Mode {
    kThread,    ///< ends from a thread of its own
    kModelled,  ///< says at the launch: in 20 ms
    kSilent,    ///< says nothing until end_silent()
  };

  ~ToyDevice() override {
    for (auto& thread : threads_) thread.join();
  }
  void set_mode(Mode mode) { mode_ = mode; }
  std::size_t cancels() const { return cancels_; }
  void end_silent() {
    std::vector<Pending> ending;
    {
      std::lock_guard lock(mutex_);
      ending.swap(silent_);
    }
    for (const auto& one : ending) one.sink->complete(one.id, Time(0), StepResult{});
  }

  const DeviceInfo& info() const override { return info_; }
  Result<StreamId> open_stream() override { return StreamId(0); }
  void close_stream(StreamId) override {}
  void launch(Launch launch, Time now, CompletionSink& sink) override {
    switch (mode_.load()) {
      case Mode::kThread: {
        std::lock_guard lock(mutex_);
        threads_.emplace_back(
            [id = launch.id, now, &sink] { sink.complete(id, now, StepResult{}); });
        return;
      }
      case Mode::kModelled: {
        {
          std::lock_guard lock(mutex_);
          modelled_.push_back({launch.id, &sink});
        }
        return sink.complete(launch.id, now + milliseconds(20), StepResult{});
      }
      case Mode::kSilent: {
        std::lock_guard lock(mutex_);
        silent_.push_back({launch.id, &sink});
        return;
      }
    }
  }
  void cancel(LaunchId launch, Time now) override {
    ++cancels_;
    CompletionSink* sink = nullptr;
    {
      std::lock_guard lock(mutex_);
      for (const auto& one : modelled_) {
        if (one.id == launch) sink = one.sink;
      }
    }
    if (sink != nullptr) sink->complete(launch, now, Error{Code::kCancelled, "cancelled"});
  }
  std::span<std::byte> slot_memory(std::uint32_t) override { return {}; }
  Status begin_capture(StreamId) override { return Error{Code::kUnsupported, "no graphs"}; }
  Result<GraphId> end_capture(StreamId) override { return Error{Code::kUnsupported, "no graphs"}; }

 private:
  struct Pending {
    LaunchId id;
    CompletionSink* sink;
  };
  DeviceInfo info_{"toy", 1, 0, 0, 1, 0};
  std::atomic<Mode> mode_{Mode::kThread};
  std::atomic<std::size_t> cancels_{0};
  std::mutex mutex_;
  std::vector<Pending> silent_;
  std::vector<Pending> modelled_;
  std::vector<std::thread> threads_;
};

}  // namespace troupe::toys
