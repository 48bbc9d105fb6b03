#include "runtime/device/modelled_device.hpp"

#include <gtest/gtest.h>

#include <map>

#include "runtime/base/assert.hpp"
#include "runtime/device/simulated_model.hpp"

namespace troupe {
namespace {

class StepRecorder final : public CompletionSink {
 public:
  struct End {
    Time at;
    bool ok = false;
    Code code = Code::kInternal;
  };
  std::map<std::uint64_t, End> ends;
  void complete(LaunchId launch, Time at, Result<StepResult> result) override {
    ends[launch.value] = {at, result.ok(), result.ok() ? Code::kInternal : result.error().code};
  }
};

class ModelledDeviceTest : public testing::Test {
 protected:
  ModelledDeviceTest() {
    DeviceInfo info;
    info.slot_count = 4;
    SimulatedModelOptions options;
    options.step_cost = [](const StepPlan&) { return milliseconds(10); };
    options.output_mean = 3;
    device = std::make_unique<ModelledDevice>(info,
                                              std::make_unique<SimulatedModel>(std::move(options)));
    stream = *device->open_stream();
  }
  void launch(std::uint64_t id, LaunchKind kind, Time now, std::vector<LaunchId> after = {},
              StreamId on = StreamId(0)) {
    auto plan = std::make_shared<StepPlan>();
    plan->step = id;
    Launch launch;
    launch.id = LaunchId(id);
    launch.stream = on;
    launch.kind = kind;
    launch.plan = plan;
    launch.after = std::move(after);
    device->launch(std::move(launch), now, recorder);
  }

  StepRecorder recorder;
  std::unique_ptr<ModelledDevice> device;
  StreamId stream;
};

TEST_F(ModelledDeviceTest, AStreamRunsOneLaunchAfterTheOther) {
  launch(1, LaunchKind::kForward, Time(0));
  launch(2, LaunchKind::kForward, Time(5));
  EXPECT_EQ(recorder.ends[1].at, Time(0) + milliseconds(10));
  EXPECT_EQ(recorder.ends[2].at, Time(0) + milliseconds(20));
}

TEST_F(ModelledDeviceTest, OtherStreamsRunBesideAndWaitForWhatTheyMust) {
  const StreamId other = *device->open_stream();
  launch(1, LaunchKind::kForward, Time(0));
  launch(2, LaunchKind::kForward, Time(0), {}, other);
  launch(3, LaunchKind::kForward, Time(0), {LaunchId(1)}, other);
  EXPECT_EQ(recorder.ends[2].at, Time(0) + milliseconds(10));
  EXPECT_EQ(recorder.ends[3].at, Time(0) + milliseconds(20));
}

TEST_F(ModelledDeviceTest, ACancelledLaunchEndsAtOnceButNeverBeforeThoseAheadOfIt) {
  launch(1, LaunchKind::kForward, Time(0));
  launch(2, LaunchKind::kForward, Time(0));
  launch(3, LaunchKind::kForward, Time(0));
  device->cancel(LaunchId(3), Time(1000));
  EXPECT_EQ(recorder.ends[3].at, Time(0) + milliseconds(20) + nanoseconds(1));
  EXPECT_EQ(recorder.ends[3].code, Code::kCancelled);
  device->cancel(LaunchId(1), Time(2000));
  EXPECT_EQ(recorder.ends[1].at, Time(2001));
  device->cancel(LaunchId(1), Time(3000));
  EXPECT_EQ(recorder.ends[1].at, Time(2001)) << "what has ended cannot be cancelled";
}

TEST_F(ModelledDeviceTest, EndsOnAStreamDifferSoThatNobodyCanSwapThem) {
  launch(1, LaunchKind::kForward, Time(0));
  launch(2, LaunchKind::kSample, Time(0));  // costs nothing
  EXPECT_EQ(recorder.ends[2].at, recorder.ends[1].at + nanoseconds(1));
  device->cancel(LaunchId(1), Time(5000));
  device->cancel(LaunchId(2), Time(5000));
  EXPECT_EQ(recorder.ends[1].at, Time(5001));
  EXPECT_EQ(recorder.ends[2].at, Time(5002));
}

TEST_F(ModelledDeviceTest, CopiesTakeTheirBandwidth) {
  Launch copy;
  copy.id = LaunchId(1);
  copy.stream = stream;
  copy.kind = LaunchKind::kCopyToHost;
  copy.copy.length = 50'000'000;  // at 50 GB/s
  device->launch(copy, Time(0), recorder);
  EXPECT_EQ(recorder.ends[1].at, Time(0) + milliseconds(1));
}

TEST_F(ModelledDeviceTest, SlotsAndStreamsAreChecked) {
  Launch wrong;
  wrong.id = LaunchId(1);
  wrong.slot = 4;
  EXPECT_THROW(device->launch(wrong, Time(0), recorder), AssertionFailure);
  wrong.slot = 0;
  wrong.stream = StreamId(9);
  EXPECT_THROW(device->launch(wrong, Time(0), recorder), AssertionFailure);
}

/// Launches of ten steps of 10 ms, which can end behind each of them.
class CuttableModel final : public StepModel {
 public:
  Outcome forward(const StepPlan&, Time) override { return {milliseconds(100), StepResult{}}; }
  Outcome sample(const StepPlan&, Time) override { return {Duration(), StepResult{}}; }
  Duration copy(std::size_t) override { return Duration(); }
  std::optional<Outcome> cut(Time start, Time now) override {
    const auto steps = (now - start).value / milliseconds(10).value + 1;
    return Outcome{milliseconds(10) * steps, StepResult{}};
  }
};

TEST_F(ModelledDeviceTest, ALaunchOfManyStepsEndsBehindTheOneThatRuns) {
  device = std::make_unique<ModelledDevice>(device->info(), std::make_unique<CuttableModel>());
  stream = *device->open_stream();
  launch(1, LaunchKind::kForward, Time(0));
  device->cancel(LaunchId(1), Time(0) + milliseconds(34));
  EXPECT_TRUE(recorder.ends[1].ok) << "with what it has done";
  EXPECT_EQ(recorder.ends[1].at, Time(0) + milliseconds(40));
  launch(2, LaunchKind::kForward, Time(0) + milliseconds(35));
  EXPECT_EQ(recorder.ends[2].at, Time(0) + milliseconds(140)) << "the stream is free from then on";
  launch(3, LaunchKind::kForward, Time(0) + milliseconds(36));
  device->cancel(LaunchId(2), Time(0) + milliseconds(50));
  EXPECT_EQ(recorder.ends[2].code, Code::kCancelled) << "another one waits for the end it was told";
}

}  // namespace
}  // namespace troupe
