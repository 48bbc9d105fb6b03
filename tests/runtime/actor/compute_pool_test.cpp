#include "runtime/actor/compute_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/actor/message_type.hpp"
#include "runtime/base/monotonic.hpp"

namespace troupe {
namespace {

struct Number {
  static constexpr MessageInfo info{0x7201, "number"};
  std::uint64_t value = 0;
  static void fields(auto& self, auto&& visit) { visit("value", self.value); }
};

std::shared_ptr<const ComputeJob> job(std::function<Result<Number>()> function) {
  return make_job<Number>(std::move(function), Duration(1));
}

/// Counts answers by outcome.
struct Answers {
  std::atomic<int> good{0};
  std::atomic<int> failed[16]{};
  ComputePool::Answer hear() {
    return [this](Message message) {
      const auto* done = message.as<Done<Number>>();
      if (done->failed) {
        ++failed[static_cast<std::size_t>(done->error.code)];
      } else {
        ++good;
      }
    };
  }
  int count(Code code) { return failed[static_cast<std::size_t>(code)]; }
};

const Time kNever = Time(INT64_MAX);

TEST(ComputePool, RunsJobsAndCatchesWhatTheyThrow) {
  Answers answers;
  {
    ComputePool pool(2, 1000);
    for (std::uint64_t i = 0; i < 100; ++i) {
      pool.submit(OpId(i), job([i]() -> Result<Number> {
                    if (i % 10 == 0) throw std::runtime_error("on purpose");
                    return Number{i};
                  }),
                  kNever, answers.hear());
    }
    while (answers.good + answers.count(Code::kInternal) < 100) std::this_thread::yield();
  }
  EXPECT_EQ(answers.good, 90);
}

TEST(ComputePool, WhatWaitsForADiskHoldsUpNobodyAndIsHeldUpByNobody) {
  std::atomic<bool> disk{false};
  std::atomic<bool> prompt{false};
  Answers answers;
  ComputePool pool(1, 10);
  const auto wait_for = [](std::atomic<bool>& flag) -> Result<Number> {
    while (!flag) std::this_thread::yield();
    return Number{};
  };
  // Each of the two ends only if the other one runs beside it.
  pool.submit(OpId{1},
              make_job<Number>(
                  [&] {
                    prompt = true;
                    return wait_for(disk);
                  },
                  Duration(), JobLength::kBlocks),
              kNever, answers.hear());
  pool.submit(OpId{2}, job([&] {
                disk = true;
                return wait_for(prompt);
              }),
              kNever, answers.hear());
  const Time limit = monotonic_now() + seconds(10);
  while (answers.good < 2 && monotonic_now() < limit) std::this_thread::yield();
  EXPECT_EQ(answers.good, 2);
  disk = prompt = true;
}

TEST(ComputePool, RefusesWhatIsTooMuchTooLateOrCancelled) {
  Answers answers;
  std::atomic<bool> go{false};
  ComputePool pool(1, 2);
  auto wait = job([&]() -> Result<Number> {
    while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Number{};
  });
  pool.submit(OpId(1), wait, kNever, answers.hear());
  while (pool.queued() > 0) std::this_thread::yield();
  pool.submit(OpId(2), wait, monotonic_now() + milliseconds(5), answers.hear());
  const std::uint64_t ticket = pool.submit(OpId(3), wait, kNever, answers.hear());
  pool.submit(OpId(4), wait, kNever, answers.hear());
  EXPECT_EQ(answers.count(Code::kUnavailable), 1) << "a full queue answers at once";
  EXPECT_TRUE(pool.cancel(ticket));
  EXPECT_FALSE(pool.cancel(ticket));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(pool.stop(monotonic_now() + milliseconds(10))) << "a job still runs";
  EXPECT_EQ(answers.count(Code::kUnavailable), 2) << "what was queued is refused";
  go = true;
  EXPECT_TRUE(pool.stop(monotonic_now() + seconds(10)));
  EXPECT_EQ(answers.good, 1);
}

TEST(ComputePool, ADeadlineIsCheckedBeforeTheStart) {
  Answers answers;
  ComputePool pool(1, 10);
  pool.submit(OpId(1), job([]() -> Result<Number> {
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                return Number{};
              }),
              kNever, answers.hear());
  pool.submit(OpId(2), job([]() -> Result<Number> { return Number{}; }),
              monotonic_now() + milliseconds(5), answers.hear());
  while (answers.count(Code::kDeadline) == 0) std::this_thread::yield();
  EXPECT_EQ(answers.good, 1);
}

}  // namespace
}  // namespace troupe
