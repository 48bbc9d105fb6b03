// Launches on a live node: real devices, modelled ones, hung ones, dead owners.
#include "tests/runtime/actor/caf/toy_device.hpp"
#include "tests/runtime/actor/caf/toys.hpp"

namespace troupe {
namespace {

using namespace toys;

class DeviceTest : public testing::Test {
 protected:
  DeviceTest() : system(options()), boss(system), rank(system.spawn_root<Toy>(1, {boss.ref()})) {}
  SystemOptions options() {
    SystemOptions made;
    made.node = NodeId(1);
    made.devices = {&device};
    return made;
  }
  void act(std::uint64_t what, std::uint64_t number) {
    system.send(boss.ref(), rank, make_message<Act>(what, number, ActorRef{}));
  }
  /// What the rank was told about op `number`, or "nothing" after 10 s.
  std::string outcome(std::uint64_t number) {
    std::string text = "nothing";
    eventually([&] {
      for (std::size_t i = 0; i < boss.count<Told>(); ++i) {
        const auto one = boss.wait<Told>(i);
        if (one->number != number || one->text == "started") continue;
        text = one->text;
        return true;
      }
      return false;
    });
    return text;
  }

  ToyDevice device;
  System system;
  Inbox boss;
  ActorRef rank;
};

TEST_F(DeviceTest, ADeviceThreadCompletes) {
  device.set_mode(ToyDevice::Mode::kThread);
  act(kLaunch, 10);
  EXPECT_EQ(outcome(10), "done");
  EXPECT_EQ(system.in_flight_launches(), 0u);
}

TEST_F(DeviceTest, AModelledEndIsDeliveredAtItsTime) {
  device.set_mode(ToyDevice::Mode::kModelled);  // 20 ms
  const Time start = system.now();
  act(kLaunch, 11);
  EXPECT_EQ(outcome(11), "done");
  EXPECT_GE(system.now() - start, milliseconds(20));
}

TEST_F(DeviceTest, ALaterWordReplacesAnEarlierOne) {
  device.set_mode(ToyDevice::Mode::kModelled);
  act(kLaunch, 12);
  act(kCancelOp, 12);  // the device says: cancelled, at once
  EXPECT_EQ(outcome(12), "cancelled");
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  EXPECT_EQ(boss.count<Told>(), 2u) << "started, and one Done";
}

TEST_F(DeviceTest, AHungDeviceIsGivenUpAtTheDeadline) {
  device.set_mode(ToyDevice::Mode::kSilent);  // deadline 100 ms
  act(kLaunch, 13);
  EXPECT_EQ(outcome(13), "hung");
  EXPECT_EQ(system.in_flight_launches(), 1u) << "its slot is still the stream's";
  device.end_silent();
  EXPECT_EQ(system.in_flight_launches(), 0u);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(boss.count<Told>(), 2u) << "the late end is dropped";
}

TEST_F(DeviceTest, ADeadOwnersLaunchIsCancelledAndItsEndDropped) {
  device.set_mode(ToyDevice::Mode::kSilent);
  act(kLaunch, 14);
  ASSERT_TRUE(eventually([&] { return system.in_flight_launches() == 1; }));
  system.kill(rank);
  ASSERT_TRUE(eventually([&] { return device.cancels() == 1; }));
  ASSERT_TRUE(eventually([&] { return !system.alive(rank); }));
  device.end_silent();
  EXPECT_EQ(system.in_flight_launches(), 0u);
  EXPECT_EQ(boss.count<Told>(), 1u);
}

TEST_F(DeviceTest, AShutdownWaitsForLaunchesNoLongerThanItsLimit) {
  device.set_mode(ToyDevice::Mode::kSilent);
  act(kLaunch, 15);
  ASSERT_TRUE(eventually([&] { return system.in_flight_launches() == 1; }));
  const Time start = system.now();
  EXPECT_TRUE(system.shutdown(Duration(0), milliseconds(200)).ok());
  EXPECT_LT(system.now() - start, milliseconds(1300));
  device.end_silent();  // the book still listens
}

}  // namespace
}  // namespace troupe
