#include "runtime/actor/timer_service.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

void sleep_ms(int n) {
  std::this_thread::sleep_for(std::chrono::milliseconds(n));
}

TEST(TimerService, FiresInOrderOfTime) {
  TimerService timers;
  std::mutex mutex;
  std::vector<int> fired;
  const Time now = monotonic_now();
  for (int i : {3, 1, 2}) {
    timers.schedule(now + milliseconds(5 * i), [&, i] {
      std::lock_guard lock(mutex);
      fired.push_back(i);
    });
  }
  while (timers.pending() > 0) sleep_ms(1);
  timers.stop();
  EXPECT_EQ(fired, (std::vector<int>{1, 2, 3}));
}

TEST(TimerService, ACancelledTimerLeavesAtOnce) {
  TimerService timers;
  std::atomic<bool> ran{false};
  const TimerId id = timers.schedule(monotonic_now() + seconds(3600), [&] { ran = true; });
  EXPECT_EQ(timers.pending(), 1u);
  EXPECT_TRUE(timers.cancel(id));
  EXPECT_EQ(timers.pending(), 0u);
  EXPECT_FALSE(timers.cancel(id));
  EXPECT_FALSE(timers.cancel({}));
  timers.stop();
  EXPECT_FALSE(ran);
}

TEST(TimerService, EveryTimerFiresOnceOrIsCancelled) {
  TimerService timers;
  std::atomic<std::uint64_t> fired{0};
  std::atomic<std::uint64_t> cancelled{0};
  constexpr std::uint64_t kEach = 2000;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      Rng rng(t);
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const auto delay = microseconds(static_cast<std::int64_t>(rng.below(300)));
        const TimerId id = timers.schedule(monotonic_now() + delay, [&] { ++fired; });
        if (rng.chance(0.5) && timers.cancel(id)) ++cancelled;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  while (timers.pending() > 0) sleep_ms(1);
  timers.stop();
  EXPECT_EQ(fired + cancelled, 3 * kEach);
}

TEST(TimerService, StopDropsWhatIsPending) {
  TimerService timers;
  std::atomic<bool> ran{false};
  timers.schedule(monotonic_now() + milliseconds(20), [&] { ran = true; });
  timers.stop();
  timers.stop();
  EXPECT_EQ(timers.schedule(monotonic_now(), [&] { ran = true; }), TimerId{});
  sleep_ms(30);
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace troupe
