// Jobs run in order on a thread of their own, and never too many wait.
#include "runtime/base/job_thread.hpp"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace troupe {
namespace {

TEST(JobThread, RunsInOrderAndRefusesACrowd) {
  std::promise<void> started, go;
  std::vector<int> done;
  std::promise<void> last;
  JobThread thread(2);
  ASSERT_TRUE(thread.run([&] {
    started.set_value();
    go.get_future().wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(thread.run([&] { done.push_back(1); }));
  EXPECT_TRUE(thread.run([&] {
    done.push_back(2);
    last.set_value();
  }));
  EXPECT_FALSE(thread.run([] {})) << "two wait";
  go.set_value();
  last.get_future().wait();
  EXPECT_EQ(done, (std::vector<int>{1, 2}));
}

TEST(JobThread, ItsEndDropsWhatWaits) {
  bool ran = false;
  std::promise<void> started;
  std::promise<void> never;  // outlives the thread: the first job is still at it when that ends
  {
    JobThread thread(2);
    ASSERT_TRUE(thread.run([&] {
      started.set_value();
      never.get_future().wait_for(std::chrono::milliseconds(500));
    }));
    started.get_future().wait();
    ASSERT_TRUE(thread.run([&] { ran = true; }));
  }
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace troupe
