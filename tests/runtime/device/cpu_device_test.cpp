#include "runtime/device/cpu_device.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <future>

namespace troupe {
namespace {

using namespace std::chrono_literals;

/// Counts, and runs until told: a step takes as long as the test wants.
class GateEngine final : public StepEngine {
 public:
  std::atomic<bool> open{true};
  std::atomic<int> forwards{0};
  std::atomic<int> running{0};

  Status forward(const StepPlan&, const std::atomic<bool>& cancelled) override {
    ++running;
    while (!open && !cancelled) std::this_thread::sleep_for(1ms);
    --running;
    if (cancelled) return Error{Code::kCancelled, "cancelled between layers"};
    ++forwards;
    return ok_status();
  }
  Result<StepResult> sample(const StepPlan& plan, const std::atomic<bool>&) override {
    if (plan.step == 13) throw std::runtime_error("step 13");
    StepResult result;
    result.step = plan.step;
    return result;
  }
};

class Recorder final : public CompletionSink {
 public:
  void complete(LaunchId launch, Time, Result<StepResult> result) override {
    const std::lock_guard lock(mutex_);
    ended_.push_back({launch, result.ok() ? std::nullopt : std::optional(result.error().code)});
    changed_.notify_all();
  }
  using Ended = std::vector<std::pair<LaunchId, std::optional<Code>>>;
  Ended wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 10s, [&] { return ended_.size() >= count; });
    return ended_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Ended ended_;
};

DeviceInfo device_info() {
  DeviceInfo info;
  info.kind = "cpu";
  info.slot_count = 4;
  info.slot_bytes = 64;
  return info;
}

class CpuDeviceTest : public testing::Test {
 protected:
  CpuDeviceTest() {
    auto owned = std::make_unique<GateEngine>();
    engine = owned.get();
    device = std::make_unique<CpuDevice>(device_info(), std::move(owned));
    stream = *device->open_stream();
  }
  Launch make(std::uint64_t id, LaunchKind kind, std::uint64_t step = 1) {
    auto plan = std::make_shared<StepPlan>();
    plan->step = step;
    Launch launch;
    launch.id = LaunchId(id);
    launch.stream = stream;
    launch.kind = kind;
    launch.plan = plan;
    return launch;
  }
  void launch(Launch launch) { device->launch(std::move(launch), Time(), recorder); }

  GateEngine* engine;
  Recorder recorder;
  std::unique_ptr<CpuDevice> device;
  StreamId stream;
};

TEST_F(CpuDeviceTest, LaunchReturnsAtOnceAndStreamsKeepOrder) {
  engine->open = false;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 1; i <= 5; ++i) launch(make(i, LaunchKind::kForward));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 100ms);
  engine->open = true;
  const auto ended = recorder.wait_for(5);
  ASSERT_EQ(ended.size(), 5u);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(ended[i].first, LaunchId(i + 1));
}

TEST_F(CpuDeviceTest, ACancelEndsARunningLaunchAndAQueuedOne) {
  engine->open = false;
  launch(make(1, LaunchKind::kForward));
  launch(make(2, LaunchKind::kForward));
  launch(make(3, LaunchKind::kSample));
  while (engine->running == 0) std::this_thread::sleep_for(1ms);
  device->cancel(LaunchId(2), Time());
  device->cancel(LaunchId(1), Time());
  const auto ended = recorder.wait_for(3);
  ASSERT_EQ(ended.size(), 3u);
  EXPECT_EQ(ended[0].second, Code::kCancelled);
  EXPECT_EQ(ended[1].second, Code::kCancelled);
  EXPECT_EQ(ended[2].second, std::nullopt);
  EXPECT_EQ(engine->forwards, 0);
}

TEST_F(CpuDeviceTest, LaunchesWaitForOtherStreams) {
  const StreamId other = *device->open_stream();
  engine->open = false;
  launch(make(1, LaunchKind::kForward));
  Launch waiting = make(2, LaunchKind::kSample);
  waiting.stream = other;
  waiting.after = {LaunchId(1)};
  launch(waiting);
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(recorder.wait_for(0).empty());
  engine->open = true;
  const auto ended = recorder.wait_for(2);
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].first, LaunchId(1));
}

TEST_F(CpuDeviceTest, AnExceptionBecomesAFailedLaunch) {
  launch(make(1, LaunchKind::kSample, 13));
  EXPECT_EQ(recorder.wait_for(1).at(0).second, Code::kInternal);
}

TEST_F(CpuDeviceTest, CopiesGoBothWaysWithinBounds) {
  std::memcpy(device->slot_memory(1).data(), "four", 4);
  Launch out = make(1, LaunchKind::kCopyToDevice);
  out.copy = {1, 0, 1000, 4};
  launch(out);
  Launch back = make(2, LaunchKind::kCopyToHost);
  back.copy = {2, 8, 1000, 4};
  launch(back);
  Launch beyond = make(3, LaunchKind::kCopyToHost);
  beyond.copy = {2, 62, 0, 4};
  launch(beyond);
  const auto ended = recorder.wait_for(3);
  EXPECT_EQ(std::memcmp(device->slot_memory(2).data() + 8, "four", 4), 0);
  EXPECT_EQ(ended.at(2).second, Code::kInvalid);
}

TEST_F(CpuDeviceTest, ACapturedGraphReplaysItsLaunches) {
  ASSERT_TRUE(device->begin_capture(stream).ok());
  launch(make(1, LaunchKind::kForward));
  launch(make(2, LaunchKind::kForward));
  const GraphId graph = *device->end_capture(stream);
  EXPECT_EQ(engine->forwards, 0);
  for (std::uint64_t id : {10, 11}) {
    Launch replay = make(id, LaunchKind::kGraph);
    replay.graph = graph;
    launch(replay);
  }
  recorder.wait_for(2);
  EXPECT_EQ(engine->forwards, 4);
}

TEST_F(CpuDeviceTest, CloseStreamCancelsAndWaits) {
  engine->open = false;
  for (std::uint64_t i = 1; i <= 3; ++i) launch(make(i, LaunchKind::kForward));
  device->close_stream(stream);
  EXPECT_EQ(recorder.wait_for(0).size(), 3u) << "every launch completed before close returned";
}

}  // namespace
}  // namespace troupe
