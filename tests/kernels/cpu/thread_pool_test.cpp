#include "kernels/cpu/thread_pool.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

namespace troupe::cpu {
namespace {

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (const std::size_t threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::size_t count : {0, 1, 2, 5, 1000}) {
      std::vector<int> calls(count, 0);
      pool.run(count, [&](std::size_t index, std::size_t worker) {
        ASSERT_LT(worker, threads);
        ++calls[index];
      });
      EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), std::size_t{0}), count);
      for (const int n : calls) EXPECT_EQ(n, 1);
    }
  }
}

TEST(ThreadPool, ManyShortRunsOneAfterTheOther) {
  ThreadPool pool(3);
  std::vector<std::size_t> values(7, 0);
  for (std::size_t round = 0; round < 5000; ++round) {
    pool.run(values.size(), [&](std::size_t index, std::size_t) { values[index] += round; });
  }
  for (const std::size_t value : values) EXPECT_EQ(value, 5000u * 4999 / 2);
}

TEST(ThreadPool, WorkersShareLongTasks) {
  ThreadPool pool(4);
  std::vector<std::size_t> worker_of(24, 0);
  for (int round = 0; round < 2; ++round) {  // asleep, then just awake
    pool.run(worker_of.size(), [&](std::size_t index, std::size_t worker) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      worker_of[index] = worker;
    });
    EXPECT_NE(std::count(worker_of.begin(), worker_of.end(), 0u), 24) << "the caller did it all";
  }
}

TEST(ThreadPool, IdleWorkersSleep) {
  ThreadPool pool(4);
  pool.run(4, [](std::size_t, std::size_t) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto cpu = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double before = cpu();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(cpu() - before, 0.05);
}

}  // namespace
}  // namespace troupe::cpu
